// Builds the server, the dashboard and the docs site. Assumes that everything is installed; `prepare.mjs` decides when to run it.
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { build as buildPage } from 'vite'
import { copyBrowserLibrary } from './browser-library.mjs'
import { compressFiles } from './compress-files.mjs'
import { buildDocs } from './docs-site/build.mjs'
import { root } from './prepare.mjs'
import { dist, makeExecutable, removeServerBundles, serverBundles } from './server-bundle.mjs'
import { thirdPartyLicenses } from './third-party-licenses.mjs'

const packages = join(root, 'packages')

removeServerBundles()
const bundles = await Promise.all(
  serverBundles.map(options => build({ ...options, metafile: true, absWorkingDir: root })),
)
makeExecutable()

// On a terminal Vite draws its progress, whatever its log level.
process.env.CI ||= 'true'
// Vite keeps a NODE_ENV that is set, and with any other the page would contain React's development build.
process.env.NODE_ENV = 'production'
const page = await buildPage({ configFile: join(packages, 'web/vite.config.ts'), mode: 'production', logLevel: 'warn' })
// The server fills in index.html for each request.
compressFiles(join(dist, 'web'), name => name !== 'index.html')
await buildDocs()

const bundled = [
  ...bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs)).map(path => join(root, path)),
  ...copyBrowserLibrary(),
  ...[page].flat().flatMap(({ output }) =>
    output.flatMap(({ moduleIds = [], originalFileNames = [] }) => [
      ...moduleIds,
      // Fonts, which are no modules.
      ...originalFileNames.map(name => resolve(packages, 'web', name)),
    ]),
  ),
]
writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), thirdPartyLicenses(bundled))
