// Part of the build: runs the built server for a moment, as its users do, and keeps what V8 has compiled by then, so that a start
// does not compile it again. Everything happens in memory.
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import v8 from 'node:v8'
import { root } from './prepare.mjs'

const dist = join(root, 'packages/server/dist')
for (const name of readdirSync(dist)) if (name.endsWith('.code')) rmSync(join(dist, name))

const port = await freePort()
const url = `http://127.0.0.1:${port}`
const key = `phx_${'build'.repeat(6)}`
for (const name of Object.keys(process.env)) if (/^(HALYARD_|HOST$|TRUST_PROXY$)/.test(name)) delete process.env[name]
Object.assign(process.env, {
  DATABASE_URL: 'sqlite::memory:',
  HALYARD_BOOTSTRAP_KEY: key,
  LOG_LEVEL: 'silent',
  PORT: String(port),
})
process.argv.length = 2
// What the first start says is not for whoever builds.
console.log = () => {}

// V8 takes the code back only under the flags that it was made with. A start sets some of its own (`cli/serve.ts`), and not every version
// of V8 can set all of them back.
v8.setFlagsFromString = () => {}

const { loadProgram } = await import(pathToFileURL(join(dist, 'load-program.js')).href)
const program = loadProgram()
program.run()
await untilServing()
const { results } = await ask('GET', '/api/projects/')
const { id, api_token: token } = results[0]
await ask('POST', `/api/projects/${id}/feature_flags/`, {
  key: 'a-flag',
  filters: {
    groups: [{ properties: [{ key: 'email', type: 'person', operator: 'exact', value: 'a' }], rollout_percentage: 50 }],
    multivariate: { variants: [{ key: 'a', rollout_percentage: 100 }] },
  },
})
await ask('GET', `/api/projects/${id}/feature_flags/`)
await ask('POST', '/flags/?v=2', { token, distinct_id: 'somebody', person_properties: { email: 'a' } })
writeFileSync(program.codePath, program.compiledCode())
process.exit(0)

async function freePort() {
  const server = createServer()
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  return port
}

async function untilServing() {
  // A server that could not start has said so and set an exit code.
  while (process.exitCode === undefined) {
    const response = await fetch(`${url}/_readyz`).catch(() => undefined)
    if (response?.ok) return
    await wait(10)
  }
  process.exit()
}

async function ask(method, path, body) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${await response.text()}`)
  return response.json()
}
