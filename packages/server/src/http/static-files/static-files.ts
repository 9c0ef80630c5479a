import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface StaticFile {
  readonly type: string
  /** The name holds a hash of the content, so it can be cached forever. */
  readonly isImmutable: boolean
  /** The content in an encoding that the client accepts; `encoding` is undefined when it is sent as it is. */
  read(accepted: string): Promise<{ readonly bytes: Buffer; readonly encoding: string | undefined }>
}

/** By path, such as `/assets/main-1a2b3c4d.js`. */
export type StaticFiles = ReadonlyMap<string, StaticFile>

const yearSeconds = 365 * 24 * 60 * 60

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
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
 * Only the names are read at start: nothing that a request names can reach any other file, and nothing is held in memory for
 * pages that are seldom loaded.
 */
export function listStaticFiles(folder: string): StaticFiles {
  const paths = new Set(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name)),
  )
  const files = [...paths]
    .filter(path => types[extname(path)] !== undefined)
    .map((path): [string, StaticFile] => {
      const address = path.slice(folder.length).replaceAll('\\', '/')
      return [address.startsWith('/') ? address : `/${address}`, staticFile(path, paths)]
    })
  return new Map(files)
}

function staticFile(path: string, paths: ReadonlySet<string>): StaticFile {
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

/** A folder of the build: beside the bundle when it runs from `dist`; in `dist` when the sources run. */
export function builtFolder(name: string, file = 'index.html'): string | undefined {
  const here = dirname(fileURLToPath(import.meta.url))
  return [join(here, name), join(here, '../../../dist', name)].find(folder => existsSync(join(folder, file)))
}

/** Sends a file with its own Content-Security-Policy. */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StaticFile,
  policy: string,
): Promise<FastifyReply> {
  const { bytes, encoding } = await file.read(String(request.headers['accept-encoding'] ?? ''))
  reply
    .type(file.type)
    .header('vary', 'accept-encoding')
    .header('content-security-policy', policy)
    .header('cache-control', cacheControl(file))
  if (encoding) reply.header('content-encoding', encoding)
  return reply.send(bytes)
}

function cacheControl({ isImmutable, type }: StaticFile): string {
  if (isImmutable) return `public, max-age=${yearSeconds}, immutable`
  return type.startsWith('text/html') ? 'no-cache' : 'public, max-age=3600'
}
