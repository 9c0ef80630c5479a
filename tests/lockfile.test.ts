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

const lock: { packages: Record<string, Entry> } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8'),
)
const entries = Object.entries(lock.packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)

const platforms = [
  { os: 'linux', cpu: 'x64' },
  { os: 'linux', cpu: 'arm64' },
  { os: 'darwin', cpu: 'arm64' },
  { os: 'darwin', cpu: 'x64' },
  { os: 'win32', cpu: 'x64' },
]

/** Packages whose optional dependencies are one native binary for each platform. */
const families = entries.flatMap(([path, entry]) => {
  const members = Object.keys(entry.optionalDependencies ?? {}).flatMap(name => {
    const found = lock.packages[`${path}/node_modules/${name}`] ?? lock.packages[`node_modules/${name}`]
    return found?.os && found.cpu ? [found] : []
  })
  return members.length > 1 ? [{ path, members }] : []
})

describe('package-lock.json', () => {
  it('has an integrity hash and no download address for every package', () => {
    expect(entries.filter(([, { integrity }]) => !integrity).map(([path]) => path)).toEqual([])
    expect(entries.filter(([, { resolved }]) => resolved).map(([path]) => path)).toEqual([])
  })

  it('knows the native families that the project uses', () => {
    const names = families.map(({ path }) => path)
    expect(names).toContain('node_modules/esbuild')
    expect(names).toContain('node_modules/typescript')
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
