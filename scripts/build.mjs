// Bundles each package for Node. Assumes that everything is installed; `prepare.mjs` decides when to run it.
import { join } from 'node:path'
import { build } from 'esbuild'
import { build as buildPage } from 'vite'
import { compressFiles } from './compress-files.mjs'
import { buildDocs } from './docs-site/build.mjs'
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
// The server fills in index.html for each request.
compressFiles(join(dist, 'web'), name => name !== 'index.html')
await buildDocs()
