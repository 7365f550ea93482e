// Runs the suite of http-cache-tests against a cache at an address and prints one JSON line with
// every test's outcome.
//
//   node --no-warnings run.mjs DIRECTORY private|shared http://127.0.0.1:PORT [ID ...]
//
// With ids, of these tests and of those that they depend on. DIRECTORY has the unpacked package and node-fetch. Node's own fetch is of no use: it adds
// Cache-Control to conditional requests.
import { pathToFileURL } from 'node:url'

const [tools, mode, base, ...wanted] = process.argv.slice(2)
const load = async file => import(pathToFileURL(`${tools}/${file}`))
const { default: nodeFetch } = await load('node_modules/node-fetch/lib/index.mjs')
const { runTests, getResults } = await load('package/client/runner.mjs')
const { default: all } = await load('package/tests/index.mjs')
const byId = new Map(all.flatMap(s => s.tests.map(t => [t.id, t])))
for (const id of wanted) wanted.push(...(byId.get(id).depends_on ?? []))
const some = tests => wanted.length === 0 ? tests : tests.filter(t => wanted.includes(t.id))
const suites = all.map(s => ({ ...s, tests: some(s.tests) })).filter(s => s.tests.length > 0)

// The option cache of a browser: its reload asks with max-age=0.
const client = (url, { cache, ...init } = {}) => {
  if (cache === 'no-cache') init.headers = [...(init.headers ?? []), ['Cache-Control', 'max-age=0']]
  return nodeFetch(url, init)
}
await runTests(suites, client, mode === 'private', base, 25)
const raw = getResults()
const passes = id => raw[id] === true && (byId.get(id)?.depends_on ?? []).every(passes)
const outcome = id => {
  const { kind = 'required', name } = byId.get(id)
  return { id, kind, name, pass: passes(id), detail: raw[id] }
}
console.log(JSON.stringify(Object.keys(raw).map(outcome)))
