import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const textual = new Set(['.js', '.css', '.svg', '.html', '.json'])

/** Compresses once per build: the server sends the compressed file beside the original. */
export function compressFiles(folder, isIncluded = () => true) {
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!textual.has(extname(entry.name)) || !isIncluded(entry.name)) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = readFileSync(path)
    const made = { '.br': brotliCompressSync(bytes, brotli), '.gz': gzipSync(bytes, { level: 9 }) }
    for (const [suffix, smaller] of Object.entries(made)) {
      if (smaller.length < bytes.length) writeFileSync(path + suffix, smaller)
    }
  }
}
