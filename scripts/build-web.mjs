// Builds the dashboard, and copies the library that the server serves to browsers.
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { copyBrowserLibrary } from './browser-library.mjs'
import { compressFiles } from './compress-files.mjs'
import { root } from './prepare.mjs'
import { dist } from './server-bundle.mjs'
import { writeLicenses } from './third-party-licenses.mjs'

const web = join(root, 'packages/web')

export async function buildWeb() {
  // On a terminal Vite draws its progress, whatever its log level.
  process.env.CI ||= 'true'
  // Vite keeps a NODE_ENV that is set, and with any other the page would contain React's development build.
  process.env.NODE_ENV = 'production'
  const page = await build({ configFile: join(web, 'vite.config.ts'), mode: 'production', logLevel: 'warn' })
  // The server fills in index.html for each request.
  compressFiles(join(dist, 'web'), name => name !== 'index.html')
  writeLicenses('web', [
    ...copyBrowserLibrary(),
    ...[page].flat().flatMap(({ output }) =>
      output.flatMap(({ moduleIds = [], originalFileNames = [] }) => [
        ...moduleIds,
        // Fonts, which are no modules.
        ...originalFileNames.map(name => resolve(web, name)),
      ]),
    ),
  ])
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildWeb()
