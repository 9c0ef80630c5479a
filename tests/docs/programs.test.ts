import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownerKey, root, type ServerProcess, startServer } from '../faults/server-process.ts'

/** The programs in docs/guide/sdks.md run as they are, end, and print no warning. */

const page = readFileSync(join(root, 'docs/guide/sdks.md'), 'utf8')
const programs = page
  .split(/^## /m)
  .slice(1)
  .flatMap(section => {
    const source = /<!-- run: node -->\n```js\n([\s\S]*?)```/.exec(section)?.[1]
    return source ? [{ title: section.split('\n', 1)[0]!, source }] : []
  })

interface ProjectList {
  readonly results: readonly [{ readonly id: number; readonly api_token: string }]
}

let server: ServerProcess
let token: string
beforeAll(async () => {
  server = await startServer('sqlite::memory:')
  const headers = { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' }
  const { results } = (await (await fetch(`${server.url}/api/projects/`, { headers })).json()) as ProjectList
  token = results[0].api_token
  const body = JSON.stringify({ key: 'new-checkout' })
  await fetch(`${server.url}/api/projects/${results[0].id}/feature_flags/`, { method: 'POST', headers, body })
})
afterAll(() => server.stop())

describe('programs in the SDK guide', () => {
  it('are found', () => expect(programs.map(({ title }) => title)).toEqual(['Node.js', 'OpenFeature']))

  it.each(programs)('$title evaluates a flag, ends, and prints no warning', async ({ source }) => {
    // Inside the checkout, so that the packages are found.
    const path = join(root, `node_modules/.halyard-doc-program-${process.pid}.mjs`)
    writeFileSync(path, source)
    try {
      const child = spawn(process.execPath, [path], {
        env: { ...process.env, HALYARD_URL: server.url, HALYARD_PROJECT_TOKEN: token },
      })
      let output = ''
      let errors = ''
      child.stdout.on('data', text => (output += text))
      child.stderr.on('data', text => (errors += text))
      const status = await new Promise(resolve => child.on('close', resolve))
      expect({ status, output: output.trim(), errors }).toEqual({ status: 0, output: 'new checkout', errors: '' })
    } finally {
      rmSync(path, { force: true })
    }
  })
})
