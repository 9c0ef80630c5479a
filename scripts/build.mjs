// Bundles each package for Node. Assumes that everything is installed; `prepare.mjs` decides when to run it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { build as buildPage } from 'vite'
import { root } from './prepare.mjs'
import { bundleOptions, dist, makeExecutable, serverOptions } from './server-bundle.mjs'

const packages = join(root, 'packages')

await build({
  ...bundleOptions,
  platform: 'neutral',
  entryPoints: [join(packages, 'engine/src/index.ts')],
  outfile: join(packages, 'engine/dist/index.js'),
})

await build({
  ...bundleOptions,
  platform: 'neutral',
  entryPoints: [join(packages, 'contract/src/index.ts')],
  outfile: join(packages, 'contract/dist/index.js'),
  packages: 'external',
  external: ['typebox'],
})

await build(serverOptions)
makeExecutable()

await buildPage({ configFile: join(packages, 'web/vite.config.ts'), mode: 'production', logLevel: 'warn' })
compressPage(join(dist, 'web'))

/** Compresses once per build: the server sends the compressed file beside the original. */
function compressPage(folder) {
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!['.js', '.css', '.svg'].includes(extname(entry.name))) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = readFileSync(path)
    const made = { '.br': brotliCompressSync(bytes, brotli), '.gz': gzipSync(bytes, { level: 9 }) }
    for (const [suffix, smaller] of Object.entries(made)) {
      if (smaller.length < bytes.length) writeFileSync(path + suffix, smaller)
    }
  }
}
