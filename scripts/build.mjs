// Bundles each package for Node. Assumes that everything is installed; `prepare.mjs` decides when to run it.
import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { build as buildPage } from 'vite'
import { root, say } from './prepare.mjs'

const keepCodeMillisecondsMax = 60_000

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

/** Fastify loads these when it has to compile a schema or to answer `inject`, which only tests do. */
const unusedByFastify = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request']
/** Fastify loads it for servers that speak HTTP/2, which ours does not; it takes longer than all else that is loaded of Node. */
const unusedOfNode = { 'node:http2': join(root, 'scripts/nothing.cjs') }
/** Native or file-reading packages stay outside, and what a start does not need; everything else is bundled, which makes it quick. */
const external = ['@photostructure/sqlite', 'pg', 'undici', 'esbuild', 'quickjs-wasi', ...unusedByFastify]

const server = join(packages, 'server/src')
const dist = join(packages, 'server/dist')
rmSync(join(dist, 'chunks'), { recursive: true, force: true })
await build({
  ...options,
  platform: 'node',
  entryPoints: {
    halyard: join(server, 'cli/launch.ts'),
    'load-program': join(server, 'cli/load-program.ts'),
    'scan-worker': join(server, 'features/impact/scan/scan-worker.ts'),
    'sandbox-worker': join(server, 'sandbox/sandbox-worker.ts'),
  },
  outdir: dist,
  external,
  banner: {
    js: "import { createRequire as halyardRequire } from 'node:module'; const require = halyardRequire(import.meta.url);",
  },
})
chmodSync(join(dist, 'halyard.js'), 0o755)

// The program itself is one function, which `cli/load-program.ts` calls: only scripts can be started from compiled code.
// Without blanks it is smaller in memory; names stay, so that a stack can be read.
await build({
  ...options,
  platform: 'node',
  format: 'cjs',
  entryPoints: [join(server, 'cli/main.ts')],
  outfile: join(dist, 'program.cjs'),
  external,
  supported: { 'dynamic-import': false },
  alias: unusedOfNode,
  define: { 'import.meta.url': 'programUrl' },
  banner: { js: '(function (require, programUrl) {' },
  footer: { js: '})' },
  minifyWhitespace: true,
  minifySyntax: true,
})
// Only a start becomes slower without it: nothing that goes wrong here may keep anybody from building.
const kept = spawnSync(process.execPath, [join(root, 'scripts/keep-code.mjs')], {
  cwd: root,
  stdio: 'inherit',
  timeout: keepCodeMillisecondsMax,
})
if (kept.status !== 0) say('The compiled code could not be kept; starts take a little longer.')

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
