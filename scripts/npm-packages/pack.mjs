// `npm run pack [-- --out folder] [-- name …]`: builds the packages that applications install and packs each into a tarball. Installs
// the compiler first when it is missing.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureInstalled, root, say } from '../prepare.mjs'
import { publishedPackages } from './published-packages.mjs'

const { values, positionals } = parseArgs({
  options: { out: { type: 'string', default: join(root, 'release/npm') } },
  allowPositionals: true,
})
const out = resolve(values.out)

await ensureInstalled('test')
// Imported late, because esbuild may have been installed just now.
const { buildPackage } = await import('./build-package.mjs')
mkdirSync(out, { recursive: true })
for (const name of positionals.length > 0 ? positionals : publishedPackages) console.log(await pack(name))

/** Packs a copy, whose manifest has no entries for development. */
async function pack(name) {
  const source = join(root, 'packages', name)
  const stage = join(out, `.${name}`)
  rmSync(stage, { recursive: true, force: true })
  await buildPackage(name, join(stage, 'dist'))
  cpSync(join(root, 'LICENSE'), join(stage, 'LICENSE'))
  if (existsSync(join(source, 'README.md'))) cpSync(join(source, 'README.md'), join(stage, 'README.md'))
  const manifest = publicManifest(JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')))
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  const { status, stdout, stderr } = spawnSync(
    'npm',
    ['pack', stage, '--json', '--ignore-scripts', '--pack-destination', out, '--loglevel=error'],
    { encoding: 'utf8', shell: process.platform === 'win32' },
  )
  rmSync(stage, { recursive: true })
  if (status !== 0) {
    say(`npm pack failed for ${name}: ${stderr}`)
    process.exit(1)
  }
  return join(out, JSON.parse(stdout)[0].filename.replace('@', '').replace('/', '-'))
}

/** The repository's address is known only where a release is built. */
function publicManifest({ devDependencies: _devDependencies, repository, exports, ...manifest }) {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env
  return {
    ...manifest,
    ...(server && name && { repository: { ...repository, url: `git+${server}/${name}.git` } }),
    exports: Object.fromEntries(Object.entries(exports).map(([path, entry]) => [path, withoutSource(entry)])),
  }
}

function withoutSource(entry) {
  if (typeof entry === 'string') return entry
  const { 'halyard-source': _source, ...conditions } = entry
  return conditions
}
