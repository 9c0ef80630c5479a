// Bundles each package for Node. Assumes that everything is installed; `prepare.mjs` decides when to run it.
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { build as buildPage } from 'vite'
import { root } from './prepare.mjs'

const packages = join(root, 'packages')
const options = {
  bundle: true,
  format: 'esm',
  target: 'node20',
  conditions: ['halyard-source'],
  sourcemap: 'linked',
  logLevel: 'warning',
  legalComments: 'none',
}

await build({
  ...options,
  platform: 'neutral',
  entryPoints: [join(packages, 'engine/src/index.ts')],
  outfile: join(packages, 'engine/dist/index.js'),
})

await build({
  ...options,
  platform: 'neutral',
  entryPoints: [join(packages, 'contract/src/index.ts')],
  outfile: join(packages, 'contract/dist/index.js'),
  packages: 'external',
  external: ['typebox'],
})

/** Fastify requires these only to compile schemas or for `inject`, which production code never does. */
const unusedByFastify = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request']
/** Native or file-reading packages, and packages that a start does not need. Everything else is bundled, which loads faster. */
const external = ['@photostructure/sqlite', 'pg', 'undici', 'esbuild', 'quickjs-wasi', ...unusedByFastify]

const server = join(packages, 'server/src')
const dist = join(packages, 'server/dist')
await build({
  ...options,
  platform: 'node',
  entryPoints: {
    halyard: join(server, 'cli/launch.ts'),
    program: join(server, 'cli/main.ts'),
    'scan-worker': join(server, 'features/impact/scan/scan-worker.ts'),
    'sandbox-worker': join(server, 'sandbox/sandbox-worker.ts'),
  },
  outdir: dist,
  external,
  // Smaller in memory and faster to parse; names stay, so that stack traces can be read.
  minifyWhitespace: true,
  minifySyntax: true,
  // Bundled CommonJS packages call `require`, which modules lack.
  banner: {
    js: "import { createRequire as halyardRequire } from 'node:module'; const require = halyardRequire(import.meta.url);",
  },
})
chmodSync(join(dist, 'halyard.js'), 0o755)

await buildPage({ configFile: join(packages, 'web/vite.config.ts'), mode: 'production', logLevel: 'warn' })
compressPage(join(dist, 'web'))

/** Once here, instead of at every start: the server sends what it finds beside a file. */
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
