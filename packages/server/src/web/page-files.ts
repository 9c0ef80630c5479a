import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

export interface PageFile {
  readonly type: string
  readonly bytes: Buffer
  /** Undefined when compressing would not make it smaller. */
  readonly gzip: Buffer | undefined
  readonly brotli: Buffer | undefined
  /** The name holds a hash of the content, so it can be kept for ever. */
  readonly isImmutable: boolean
}

/** The built page, or undefined when it has not been built. */
export interface PageFiles {
  readonly index: string
  /** By path, such as `/assets/main-1a2b3c4d.js`. */
  readonly files: ReadonlyMap<string, PageFile>
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
}
const brotliQuality = 5

/** Read once at start: the page is small, and nothing that a request names can reach any other file. */
export function readPageFiles(folder = builtFolder()): PageFiles | undefined {
  if (folder === undefined || !existsSync(join(folder, 'index.html'))) return undefined
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => types[extname(path)] !== undefined)
  const files = paths.map((path): [string, PageFile] => {
    const address = path.slice(folder.length).replaceAll('\\', '/')
    return [address.startsWith('/') ? address : `/${address}`, readPageFile(path)]
  })
  return { index: readFileSync(join(folder, 'index.html'), 'utf8'), files: new Map(files) }
}

function readPageFile(path: string): PageFile {
  const bytes = readFileSync(path)
  const gzip = gzipSync(bytes)
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } })
  return {
    type: types[extname(path)] ?? 'application/octet-stream',
    bytes,
    gzip: gzip.length < bytes.length ? gzip : undefined,
    brotli: brotli.length < bytes.length ? brotli : undefined,
    isImmutable: /[\\/]assets[\\/]/.test(path),
  }
}

/** Beside the bundle when it runs from `dist`; in `dist` when the sources run. */
function builtFolder(): string | undefined {
  const here = dirname(fileURLToPath(import.meta.url))
  return [join(here, 'web'), join(here, '../../dist/web')].find(folder => existsSync(join(folder, 'index.html')))
}
