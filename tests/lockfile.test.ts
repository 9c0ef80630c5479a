import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** The lock file must install on every supported platform, not only on the one that wrote it. */

interface Entry {
  readonly version: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

interface Lock {
  readonly packages: Record<string, Entry>
}

const readLock = (path: string): Lock => JSON.parse(readFileSync(join(import.meta.dirname, '..', path), 'utf8'))
const entriesOf = ({ packages }: Lock) =>
  Object.entries(packages).filter(
    ([path, { link, resolved }]) => path.includes('node_modules/') && !link && !resolved?.startsWith('file:'),
  )

const platforms = [
  { os: 'linux', cpu: 'x64' },
  { os: 'linux', cpu: 'arm64' },
  { os: 'darwin', cpu: 'arm64' },
  { os: 'darwin', cpu: 'x64' },
  { os: 'win32', cpu: 'x64' },
]

/** Packages whose optional dependencies are one native binary for each platform. */
const familiesOf = (lock: Lock) =>
  entriesOf(lock).flatMap(([path, entry]) => {
    const members = Object.keys(entry.optionalDependencies ?? {}).flatMap(name => {
      const found = lock.packages[`${path}/node_modules/${name}`] ?? lock.packages[`node_modules/${name}`]
      return found?.os && found.cpu ? [found] : []
    })
    return members.length > 1 ? [{ path, members }] : []
  })

describe.each([
  { path: 'package-lock.json', native: ['esbuild', 'typescript'] },
  { path: 'examples/nextjs/package-lock.json', native: ['next', 'sharp'] },
])('$path', ({ path, native }) => {
  const lock = readLock(path)
  const entries = entriesOf(lock)
  const families = familiesOf(lock)

  it('has an integrity hash and no download address for every package', () => {
    expect(entries.filter(([, { integrity }]) => !integrity).map(([path]) => path)).toEqual([])
    expect(entries.filter(([, { resolved }]) => resolved).map(([path]) => path)).toEqual([])
  })

  it('knows the native families that the project uses', () => {
    const names = families.map(family => family.path)
    expect(names).toEqual(expect.arrayContaining(native.map(name => `node_modules/${name}`)))
  })

  it.each(families)('$path has a binary for every supported platform', ({ members }) => {
    const missing = platforms.filter(
      ({ os, cpu }) =>
        !members.some(
          member => member.os?.includes(os) && member.cpu?.includes(cpu) && (member.libc?.includes('glibc') ?? true),
        ),
    )
    expect(missing).toEqual([])
  })
})
