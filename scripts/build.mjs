// Bundles each package for Node. Assumes that everything is installed; `prepare.mjs` decides when to run it.
import { chmodSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
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

const server = join(packages, 'server/src')
rmSync(join(packages, 'server/dist/chunks'), { recursive: true, force: true })
await build({
  ...options,
  platform: 'node',
  entryPoints: {
    halyard: join(server, 'cli/main.ts'),
    'scan-worker': join(server, 'reach/scan-worker.ts'),
    ...(existsSync(join(server, 'sandbox/sandbox-worker.ts')) && {
      'sandbox-worker': join(server, 'sandbox/sandbox-worker.ts'),
    }),
  },
  outdir: join(packages, 'server/dist'),
  // What is imported when it is first needed gets a file of its own, which a start does not have to read.
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  // Native or file-reading packages stay outside; everything else is bundled, which makes the start quick.
  external: ['@photostructure/sqlite', 'pg-native', 'esbuild', 'quickjs-wasi'],
  banner: {
    js: "import { createRequire as halyardRequire } from 'node:module'; const require = halyardRequire(import.meta.url);",
  },
})
chmodSync(join(packages, 'server/dist/halyard.js'), 0o755)

await buildPage({ configFile: join(packages, 'web/vite.config.ts'), mode: 'production', logLevel: 'warn' })
