// Reads lines of {request, response, shared} and prints what http-cache-semantics says of each: storable, and how long it is fresh.
import { createInterface } from 'node:readline'
import { createRequire } from 'node:module'

const CachePolicy = createRequire(`${process.argv[2]}/x.js`)('http-cache-semantics')
const out = []
for await (const line of createInterface({ input: process.stdin })) {
  const { request, response, shared } = JSON.parse(line)
  const p = new CachePolicy(request, response, { shared, immutableMinTimeToLive: 0 })
  out.push(JSON.stringify({ storable: p.storable(), fresh: Math.max(0, Math.floor(p.maxAge() - p.age())) }))
}
console.log(out.join('\n'))
