import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DefinitionsCache } from './options.ts'

export type { DefinitionsCache } from './options.ts'

/** Keeps the definitions in a file, so that a process can start while the server is unavailable. For Node, Bun and Deno. */
export function fileCache(path: string): DefinitionsCache {
  return {
    async read() {
      return readFile(path, 'utf8').catch((error: { code?: string }) => {
        if (error.code === 'ENOENT') return undefined
        throw error
      })
    },
    async write(text) {
      await mkdir(dirname(path), { recursive: true })
      // Renamed, so that a reader never finds half a file. It holds targeting rules, so only its owner reads it.
      const temporary = `${path}.${process.pid}.tmp`
      await writeFile(temporary, text, { mode: 0o600 })
      await rename(temporary, path)
    },
  }
}
