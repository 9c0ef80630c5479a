import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The worker's code: a file of the built server, or a bundle built from the sources. */
export type WorkerCode = { readonly file: URL } | { readonly text: string }

/** The built server ships the worker as a file. When the sources run directly, as under a test runner, it is bundled on demand. */
export function findScanWorker(): Promise<WorkerCode> {
  found ??= find()
  return found
}

let found: Promise<WorkerCode> | undefined

async function find(): Promise<WorkerCode> {
  const file = new URL('./scan-worker.js', import.meta.url)
  return existsSync(file) ? { file } : { text: await buildFromSources() }
}

async function buildFromSources(): Promise<string> {
  const { build } = await import('esbuild')
  const entry = fileURLToPath(new URL('./scan-worker.ts', import.meta.url))
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    conditions: ['halyard-source'],
    external: ['@photostructure/sqlite', 'pg-native'],
    // Evaluated code has no URL of its own; native packages are resolved relative to the sources.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(entry).href) },
    write: false,
    logLevel: 'silent',
  })
  return result.outputFiles[0]!.text
}
