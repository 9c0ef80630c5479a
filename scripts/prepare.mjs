// Installs and builds what is missing or out of date, and nothing twice. Uses nothing but Node: it runs before anything is installed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { install } from './install.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

const installStamp = join(root, 'node_modules', '.halyard-install.json')
const dist = join(root, 'packages', 'server', 'dist')
const manifests = ['package.json', 'package-lock.json', ...workspaces().map(name => `packages/${name}/package.json`)]

function workspaces() {
  return readdirSync(join(root, 'packages')).filter(name => existsSync(join(root, 'packages', name, 'package.json')))
}

/** `run`: what serving needs. `test`: also what only tests and checks need (PostgreSQL, a browser, client libraries). */
export async function ensureInstalled(purpose) {
  const hash = hashOf(manifests)
  const installed = readJson(installStamp)
  // Where tests ran, a start after a changed manifest must not remove what they need.
  if (installed?.purpose === 'test') purpose = 'test'
  if (installed?.hash === hash && installed.purpose === purpose) return
  if (hasInstalled(purpose)) return writeJson(installStamp, { hash, purpose })
  say(
    purpose === 'run'
      ? 'Installing packages (only once; about half a minute) …'
      : 'Installing packages, with everything the tests need (only once) …',
  )
  const failure = await install(root, purpose === 'run')
  if (failure) {
    say(`halyard: ${failure}`)
    process.exit(1)
  }
  writeJson(installStamp, { hash, purpose })
}

/** Whether npm has already installed what the lock file lists, such as with `npm ci`. npm writes its own list when it has finished. */
function hasInstalled(purpose) {
  const locked = readJson(join(root, 'package-lock.json'))?.packages ?? {}
  const installed = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages
  if (!installed) return false
  return Object.entries(locked).every(([path, { version, link, optional, dev, devOptional }]) => {
    if (!path.includes('node_modules/') || link || optional) return true
    const isNeeded = purpose === 'test' || !(dev || devOptional)
    return installed[path] ? installed[path].version === version : !isNeeded
  })
}

/** Builds what is out of date: the server, the dashboard and the docs site each have a stamp. */
export function ensureBuilt() {
  ensureServerBuilt()
  ensureFresh('web', [...sources(name => name !== 'server'), ...scriptsOf('build-web', 'browser-library')])
  ensureFresh('docs', [...filesBelow('docs'), ...filesBelow('scripts/docs-site')], 'docs-site/build')
}

export function ensureServerBuilt() {
  ensureFresh('server', [...sources(name => name !== 'web'), ...scriptsOf('build-server', 'server-bundle')])
}

const scriptsOf = (...names) => [...names, 'compress-files', 'third-party-licenses'].map(name => `scripts/${name}.mjs`)

/** Runs the script when a file differs from what the stamp remembers. */
function ensureFresh(part, partFiles, script = `build-${part}`) {
  const files = [...partFiles, ...manifests]
  const stamp = join(dist, `.built-${part}.json`)
  const touched = touchedOf(files)
  const built = readJson(stamp)
  if (built?.touched === touched) return
  const hash = hashOf(files)
  if (built?.hash !== hash) {
    say(`Building the ${part} …`)
    run(process.execPath, [join(root, `scripts/${script}.mjs`)])
  }
  writeJson(stamp, { hash, touched })
}

function sources(isPart) {
  return workspaces()
    .filter(isPart)
    .flatMap(name => filesBelow(`packages/${name}`).filter(file => !/\.test\.tsx?$/.test(file)))
}

function filesBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => name !== 'dist' && name !== 'node_modules')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(entry => {
      const path = `${folder}/${entry.name}`
      return entry.isDirectory() ? filesBelow(path) : [path]
    })
}

/** Sizes and modification times: when they are unchanged, no file has to be read. */
function touchedOf(files) {
  const hash = createHash('sha256')
  for (const file of files) {
    const { size, mtimeMs } = statSync(join(root, file))
    hash.update(`${file} ${size} ${mtimeMs}\n`)
  }
  return hash.digest('hex')
}

function hashOf(files) {
  const hash = createHash('sha256')
  for (const file of files) {
    hash.update(file)
    hash.update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32' && command === 'npm',
    ...options,
  })
  if (error) throw error
  if (status !== 0) {
    say(`${command} ${args.join(' ')} failed.`)
    process.exit(status ?? 1)
  }
}

export const say = message => process.stderr.write(`${message}\n`)

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

function writeJson(path, value) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify(value))
}
