import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** What the worker is started with: the file of the built server, or text that was built from the sources. */
export type WorkerCode = { readonly file: URL } | { readonly text: string }

/** The built server has the worker's code beside it. When the sources run directly, as under a test runner, it is built on the spot. */
export async function findScanWorker(): Promise<WorkerCode> {
  // This very code may have ended up in the folder of chunks.
  const file = ['./scan-worker.js', '../scan-worker.js']
    .map(path => new URL(path, import.meta.url))
    .find(candidate => existsSync(candidate))
  return file ? { file } : { text: await buildFromSources() }
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
    // Code that is started from text has no address of its own, and native packages are looked for beside the sources.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(entry).href) },
    write: false,
    logLevel: 'silent',
  })
  return result.outputFiles[0]!.text
}
