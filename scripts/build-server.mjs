// Bundles the server and its commands, in about two seconds.
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { root } from './prepare.mjs'
import { dist, makeExecutable, removeOtherBundles, serverBundles } from './server-bundle.mjs'
import { writeLicenses } from './third-party-licenses.mjs'

export async function buildServer() {
  const bundles = await Promise.all(
    serverBundles.map(options => build({ ...options, metafile: true, absWorkingDir: root })),
  )
  makeExecutable()
  const outputs = bundles.flatMap(({ metafile }) => Object.keys(metafile.outputs))
  removeOtherBundles(new Set(outputs.map(path => basename(path))))
  writeFileSync(join(dist, '.on-demand.json'), JSON.stringify(loadedOnDemand(bundles), null, 2))
  writeLicenses(
    'server',
    bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs)).map(path => join(root, path)),
  )
}

/** Files of the program and names of packages that `import()` or a worker thread loads: a start alone does not prove that they work. */
function loadedOnDemand(bundles) {
  const imports = bundles.flatMap(({ metafile }) => Object.values(metafile.outputs).flatMap(({ imports }) => imports))
  const dynamic = imports.filter(({ kind }) => kind === 'dynamic-import')
  const files = dynamic.map(({ path, external }) => (external ? path : basename(path)))
  return [...new Set([...files, 'scan-worker.js', 'import-worker.js', 'sandbox-worker.js'])].sort()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildServer()
