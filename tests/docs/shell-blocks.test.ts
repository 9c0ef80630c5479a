import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { ownerKey, root, type ServerProcess, startServer } from '../faults/server-process.ts'
import { fits, runBlocks, shellBlocks } from './run-shell-blocks.ts'

/** Every shell block of these pages is executed against a fresh server, and its output is compared with the documented one. */
const pages = ['docs/guide/api-tutorial.md', 'docs/guide/how-to.md']

let server: ServerProcess | undefined
afterEach(async () => {
  await server?.stop()
})

it.each(pages)('%s works when pasted', async page => {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-docs-'))
  try {
    server = await startServer(`sqlite:${join(folder, 'halyard.db')}`)
    const authorization = { authorization: `Bearer ${ownerKey}` }
    const response = await fetch(`${server.url}/api/projects/`, { headers: authorization })
    const { results } = (await response.json()) as { results: [{ id: number; api_token: string }] }
    const blocks = shellBlocks(readFileSync(join(root, page), 'utf8'))
    const outputs = await runBlocks(blocks, {
      HALYARD_URL: server.url,
      HALYARD_KEY: ownerKey,
      HALYARD_PROJECT_ID: String(results[0].id),
      HALYARD_PROJECT_TOKEN: results[0].api_token,
    })
    expect(blocks.length).toBeGreaterThan(0)
    for (const [index, { line, expected }] of blocks.entries()) {
      if (!expected) continue
      const actual = outputs[index]!.trim()
      const isAsDocumented =
        expected.kind === 'json' ? fits(JSON.parse(expected.text), JSON.parse(actual)) : expected.text.trim() === actual
      expect(isAsDocumented, `${page}:${line} prints\n${actual}\ninstead of\n${expected.text}`).toBe(true)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
