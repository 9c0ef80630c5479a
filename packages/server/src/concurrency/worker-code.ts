import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The worker's code: a file of the built server, or a bundle built from the sources. */
export type WorkerCode = { readonly file: URL } | { readonly text: string }

const codes = new Map<string, Promise<WorkerCode>>()

/** The built server ships each worker as a file. When the sources run directly, as under a test runner, it is bundled on demand. */
export function findWorkerCode(name: string, source: URL): Promise<WorkerCode> {
  const code = codes.get(name) ?? find(name, source)
  codes.set(name, code)
  return code
}

async function find(name: string, source: URL): Promise<WorkerCode> {
  const file = new URL(`./${name}.js`, import.meta.url)
  return existsSync(file) ? { file } : { text: await buildFromSources(fileURLToPath(source)) }
}

async function buildFromSources(entry: string): Promise<string> {
  const { build } = await import('esbuild')
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
