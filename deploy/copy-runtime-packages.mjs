// node deploy/copy-runtime-packages.mjs <target node_modules> <package>...
// Copies installed packages with their dependencies, as the lock file lists them: an image needs these beside the bundle, and nothing else.
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [target, ...names] = process.argv.slice(2)
if (!target || names.length === 0) {
  console.error('usage: node deploy/copy-runtime-packages.mjs <target node_modules> <package>...')
  process.exit(2)
}

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
const found = new Set()
for (const name of names) {
  const path = resolve('', name)
  if (!path) {
    console.error(`${name} is not in package-lock.json.`)
    process.exit(1)
  }
  collect(path)
}
for (const path of [...found].sort()) copy(path)
console.log(`${found.size} packages copied to ${target}`)

/** The lock file's path of the package that `name` means inside `from`: the nearest node_modules wins, as in Node. */
function resolve(from, name) {
  const path = join(from, 'node_modules', name).split(sep).join('/')
  if (packages[path]) return path
  return from === '' ? undefined : resolve(parent(from), name)
}

function parent(path) {
  const end = path.lastIndexOf('/node_modules/')
  return end === -1 ? '' : path.slice(0, end)
}

function collect(path) {
  if (found.has(path)) return
  const entry = packages[path]
  // Optional packages for other platforms are in the lock file, but not installed.
  if (!existsSync(join(root, path)) && entry.optional) return
  found.add(path)
  for (const name of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) {
    const dependency = resolve(path, name)
    if (dependency) collect(dependency)
  }
}

function copy(path) {
  const from = join(root, path)
  const to = join(target, path.slice('node_modules/'.length))
  cpSync(from, to, {
    recursive: true,
    filter: source => isNeeded(source.slice(from.length).split(sep).join('/')),
  })
}

/** Native addons carry builds for every platform and the C sources they were made from; nested packages are copied on their own. */
function isNeeded(inner) {
  const [, prebuild] = /^\/prebuilds\/([^/]+)/.exec(inner) ?? []
  if (prebuild && prebuild !== `${process.platform}-${process.arch}`) return false
  return !/^\/node_modules(\/|$)|^\/binding\.gyp$|\.(c|cc|cpp|h|gyp)$/.test(inner)
}
