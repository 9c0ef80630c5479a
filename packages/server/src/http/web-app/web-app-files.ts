import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface PageFile {
  readonly type: string
  /** The name holds a hash of the content, so it can be kept for ever. */
  readonly isImmutable: boolean
  /** The content in an encoding that the client accepts; `encoding` is undefined when it is sent as it is. */
  read(accepted: string): Promise<{ readonly bytes: Buffer; readonly encoding: string | undefined }>
}

/** The built page, or undefined when it has not been built. */
export interface PageFiles {
  readonly index: string
  /** The page of the API reference. */
  readonly apiDocs: string
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

/** The build leaves these beside a file that they make smaller; the first that a client accepts is sent. */
const encodings = [
  { name: 'br', suffix: '.br', pattern: /\bbr\b/ },
  { name: 'gzip', suffix: '.gz', pattern: /\bgzip\b/ },
]

/**
 * Only the names are read at start: nothing that a request names can reach any other file, and nothing is kept in memory for a
 * page that is seldom loaded afresh.
 */
export function listPageFiles(folder = builtFolder()): PageFiles | undefined {
  if (folder === undefined || !existsSync(join(folder, 'index.html'))) return undefined
  const paths = new Set(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name)),
  )
  const files = [...paths]
    .filter(path => types[extname(path)] !== undefined)
    .map((path): [string, PageFile] => {
      const address = path.slice(folder.length).replaceAll('\\', '/')
      return [address.startsWith('/') ? address : `/${address}`, pageFile(path, paths)]
    })
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  return { index: read('index.html'), apiDocs: read('api-docs.html'), files: new Map(files) }
}

function pageFile(path: string, paths: ReadonlySet<string>): PageFile {
  const made = encodings.filter(({ suffix }) => paths.has(path + suffix))
  return {
    type: types[extname(path)] ?? 'application/octet-stream',
    isImmutable: /[\\/]assets[\\/]/.test(path),
    async read(accepted) {
      const chosen = made.find(({ pattern }) => pattern.test(accepted))
      return { bytes: await readFile(path + (chosen?.suffix ?? '')), encoding: chosen?.name }
    },
  }
}

/** Beside the bundle when it runs from `dist`; in `dist` when the sources run. */
function builtFolder(): string | undefined {
  const here = dirname(fileURLToPath(import.meta.url))
  return [join(here, 'web'), join(here, '../../../dist/web')].find(folder => existsSync(join(folder, 'index.html')))
}
