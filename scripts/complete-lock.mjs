// Writes into package-lock.json the optional packages of other platforms that the registry at hand did not offer when it was made.
// Without them `npm ci` refuses the lock file, and another platform would not get its native part. Run after `npm install`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

const path = join(root, 'package-lock.json')
const lock = JSON.parse(readFileSync(path, 'utf8'))

for (const [folder, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (lock.packages[`${folder}/node_modules/${name}`] || lock.packages[`node_modules/${name}`]) continue
    lock.packages[`node_modules/${name}`] = {
      version: version.replace(/^[\^~]/, ''),
      ...(entry.dev && { dev: true }),
      optional: true,
      ...platformOf(name),
    }
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)

function platformOf(name) {
  const words = name.split(/[/-]/)
  const os = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32', 'windows'].find(word =>
    words.includes(word),
  )
  const cpu = ['arm64', 'arm', 'ia32', 'ppc64', 's390x', 'wasm32', 'x64'].find(word => words.includes(word))
  const libc = words.includes('musl')
    ? 'musl'
    : words.includes('gnu') || words.includes('gnueabihf')
      ? 'glibc'
      : undefined
  return {
    ...(cpu && { cpu: [cpu] }),
    ...(os && { os: [os === 'windows' ? 'win32' : os] }),
    ...(libc && os === 'linux' && { libc: [libc] }),
  }
}
