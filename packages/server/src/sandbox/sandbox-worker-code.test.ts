import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const source = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const useSandbox = `
  import { createWorkerSandbox } from ${JSON.stringify(source('./worker-sandbox.ts'))}
  const sandbox = createWorkerSandbox({ workersMax: 1 })
  const program = { name: 'x', scripts: [{ fileName: 'x.js', text: 'n => n + 1' }] }
  const realm = await sandbox.open(program, { call: async () => null, log() {} })
  console.log(JSON.stringify(await realm.call(41)))
  await sandbox.close()`

test('a bundled server finds its worker beside itself', async () => {
  const parent = source('../../node_modules')
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, '.bundle-test-'))
  try {
    const options = { bundle: true, platform: 'node', format: 'esm', target: 'node20', outdir: folder } as const
    const entry = { contents: useSandbox, resolveDir: folder, sourcefile: 'halyard.ts' }
    await build({ ...options, stdin: entry, entryNames: 'halyard', external: ['esbuild'] })
    await build({ ...options, entryPoints: [source('./sandbox-worker.ts')] })
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'halyard.js')])
    expect(JSON.parse(stdout)).toMatchObject({ value: 42 })
  } finally {
    await rm(folder, { recursive: true })
  }
})
