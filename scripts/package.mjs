// `npm run package [-- --all] [-- --built] [-- --out folder]`: a self-contained archive of the built program, its production packages for a platform, and a
// launcher. Node itself is not included. Without --all only this platform is packaged.
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureBuilt, ensureInstalled, root, say } from './prepare.mjs'

const platforms = [
  ['linux', 'x64'],
  ['linux', 'arm64'],
  ['darwin', 'x64'],
  ['darwin', 'arm64'],
  ['win32', 'x64'],
]

const { values } = parseArgs({
  options: {
    all: { type: 'boolean' },
    // Packages what is built already.
    built: { type: 'boolean' },
    out: { type: 'string', default: join(root, 'release') },
  },
})

if (!values.built) {
  await ensureInstalled('run')
  ensureBuilt()
}
const { dist, externalPackages } = await import('./server-bundle.mjs')
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
const { version, license, engines } = JSON.parse(readFileSync(join(root, 'packages/server/package.json'), 'utf8'))
const out = resolve(values.out)
mkdirSync(out, { recursive: true })
for (const [os, cpu] of values.all ? platforms : [[process.platform, process.arch]]) console.log(packageFor(os, cpu))

function packageFor(os, cpu) {
  const name = `halyard-${version}-${os}-${cpu}`
  const folder = join(out, name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  cpSync(dist, join(folder, 'dist'), {
    recursive: true,
    // Files with a dot are stamps and caches.
    filter: path => !path.endsWith('.map') && !basename(path).startsWith('.'),
  })
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'README.md'), readme())
  const dependencies = Object.fromEntries(
    externalPackages.map(each => [each, lock.packages[`node_modules/${each}`].version]),
  )
  const manifest = { name: 'halyard', version, license, type: 'module', engines, dependencies }
  writeJson(join(folder, 'package.json'), manifest)
  writeJson(join(folder, 'package-lock.json'), productionLock(manifest))
  say(`Installing production packages for ${os} ${cpu} …`)
  // Nothing is compiled: every native package ships binaries.
  const args = [
    'ci',
    '--omit=dev',
    '--ignore-scripts',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  run('npm', [...args, `--os=${os}`, `--cpu=${cpu}`, ...(os === 'linux' ? ['--libc=glibc'] : [])], folder)
  rmSync(join(folder, 'package-lock.json'))
  writeLaunchers(folder)
  const archive = `${name}.tar.gz`
  rmSync(join(out, archive), { force: true })
  run('tar', ['-czf', archive, name], out)
  rmSync(folder, { recursive: true })
  return join(out, archive)
}

/** The part of the lock file that the external packages need, so that npm verifies the same versions and hashes. */
function productionLock(manifest) {
  const packages = { '': manifest }
  const queue = externalPackages.map(name => ({ name, from: '' }))
  for (const { name, from } of queue) {
    const path = locate(name, from)
    if (path === undefined || packages[path]) continue
    const { dev: _dev, ...entry } = lock.packages[path]
    packages[path] = entry
    const needed = { ...entry.dependencies, ...entry.optionalDependencies, ...entry.peerDependencies }
    queue.push(...Object.keys(needed).map(dependency => ({ name: dependency, from: path })))
  }
  return { name: manifest.name, version: manifest.version, lockfileVersion: 3, requires: true, packages }
}

/** As Node resolves it: the nearest node_modules folder that has the package. */
function locate(name, from) {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf('/node_modules/'))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (lock.packages[path]) return path
    if (!folder.includes('/node_modules/'))
      return lock.packages[`node_modules/${name}`] ? `node_modules/${name}` : undefined
  }
}

function readme() {
  return `# Halyard ${version}

Self-hosted feature flags and plugins, compatible with PostHog's SDKs and OpenFeature. Node ${engines.node} is the only requirement.

    ./halyard            start the server on http://127.0.0.1:8000 (halyard.cmd on Windows)
    ./halyard --help     all commands, such as backup, doctor and import-from

Data is stored in \`data/halyard.db\` of the current folder. Set \`DATABASE_URL=postgres://…\` for PostgreSQL, \`HOST\` and \`PORT\` to listen
elsewhere. The first start prints an owner's sign-in. The server has the documentation at /docs/, with pages about deployment and upgrades.
\`LICENSE\` and \`dist/THIRD-PARTY-LICENSES.txt\` hold the licenses.
`
}

function writeLaunchers(folder) {
  writeFileSync(
    join(folder, 'halyard'),
    '#!/bin/sh\n# Follows links, so that this file can be linked into a folder of the PATH.\nself=$(readlink -f "$0" 2>/dev/null || echo "$0")\nexec node "$(dirname "$self")/dist/halyard.js" "$@"\n',
  )
  chmodSync(join(folder, 'halyard'), 0o755)
  writeFileSync(join(folder, 'halyard.cmd'), '@echo off\r\nnode "%~dp0dist\\halyard.js" %*\r\n')
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
}

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (status === 0) return
  say(`${command} ${args[0]} failed${error ? `: ${error.message}` : ''}.`)
  if (existsSync(cwd) && cwd !== out) rmSync(cwd, { recursive: true })
  process.exit(1)
}
