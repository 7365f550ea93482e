// Reads lines of {request, response, shared} and prints what http-cache-semantics says of each at a
// given moment: storable, and how long it is fresh. Arguments: the tools' folder, the moment in
// Unix seconds; by the clock a pause of the process would count as age.
import { createInterface } from 'node:readline'
import { createRequire } from 'node:module'

const [tools, now] = process.argv.slice(2)
const CachePolicy = createRequire(`${tools}/x.js`)('http-cache-semantics')
CachePolicy.prototype.now = () => 1000 * now
const out = []
for await (const line of createInterface({ input: process.stdin })) {
  const { request, response, shared } = JSON.parse(line)
  const p = new CachePolicy(request, response, { shared, immutableMinTimeToLive: 0 })
  const fresh = Math.max(0, Math.floor(p.maxAge() - p.age()))
  out.push(JSON.stringify({ storable: p.storable(), fresh }))
}
console.log(out.join('\n'))
