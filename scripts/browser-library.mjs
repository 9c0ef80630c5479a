// Copies posthog-js for the browser into the server's dist folder, where `/static/array.js` serves it.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { compressFiles } from './compress-files.mjs'
import { dist } from './server-bundle.mjs'

const require = createRequire(import.meta.url)

/** Returns a file of each package whose code the script contains. */
export function copyBrowserLibrary(out = join(dist, 'posthog-js')) {
  const manifest = require.resolve('posthog-js/package.json')
  const script = readFileSync(join(dirname(manifest), 'dist/array.js'), 'utf8')
  mkdirSync(out, { recursive: true })
  // The source map is not served.
  writeFileSync(join(out, 'array.js'), script.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n'))
  compressFiles(out)
  const { dependencies } = JSON.parse(readFileSync(manifest, 'utf8'))
  const folders = require.resolve.paths('posthog-js')
  return [manifest, ...Object.keys(dependencies).map(name => manifestOf(name, manifest, folders))]
}

/** By path: some packages do not export their manifest. */
function manifestOf(name, manifest, folders) {
  for (const folder of [join(dirname(manifest), 'node_modules'), ...folders]) {
    const path = join(folder, name, 'package.json')
    if (existsSync(path)) return path
  }
  throw new Error(`${name}, which posthog-js needs, is not installed.`)
}
