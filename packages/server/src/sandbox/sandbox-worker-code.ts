import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** What a worker thread is started with: the file of the built server, or the text that was built from the sources. */
export type WorkerCode = { file: URL } | { text: string }

/**
 * The built server has the worker's code beside it. When the sources run directly, as under a test runner, there is no
 * such file and Node cannot run TypeScript on every version that we support, so the code is built on the spot.
 */
export async function findWorkerCode(): Promise<WorkerCode> {
  const file = new URL('./sandbox-worker.js', import.meta.url)
  return existsSync(file) ? { file } : { text: await buildFromSources() }
}

async function buildFromSources(): Promise<string> {
  const { build } = await import('esbuild')
  const result = await build({
    entryPoints: [fileURLToPath(new URL('./sandbox-worker.ts', import.meta.url))],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    write: false,
    logLevel: 'silent',
  })
  return result.outputFiles[0]!.text
}

/** Node has had this function all along; its type declarations begin to mention it only with version 22. */
declare global {
  namespace WebAssembly {
    function compile(bytes: Uint8Array): Promise<WebAssembly.Module>
  }
}

/** QuickJS as WebAssembly, compiled once for all workers. */
export async function loadWasm(): Promise<WebAssembly.Module> {
  const path = createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm')
  return WebAssembly.compile(await readFile(path))
}
