import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import versions from './peers/versions.json' with { type: 'json' }

export type PeerName = keyof typeof versions

/** Other people's engines and servers, pinned in `peers/versions.json`. Nothing of the product depends on them. */
export interface WorkerBus {
  /** False when nobody asked for them; then it is not worth a word that they are not there. */
  readonly areWanted: boolean
  /** The folder that holds the peer's `node_modules`; undefined when it could not be installed, and then a line says so. */
  find(name: PeerName): string | undefined
  /** A Node of the 22 line, which some peers ask for or are faster on. */
  node22(): string | undefined
}

const cache = fileURLToPath(new URL('./peers/', import.meta.url))
const installMillisecondsMax = 300_000

export const noWorkerBus: WorkerBus = { areWanted: false, find: () => undefined, node22: () => undefined }

/** Each is installed when it is first asked for, into a folder of its own in the cache, so that none stands in another's way. */
export function createPeers(say: (line: string) => void): WorkerBus {
  const found = new Map<PeerName, string | undefined>()

  function find(name: PeerName): string | undefined {
    if (!found.has(name)) found.set(name, install(name, packagesOf(name), say))
    return found.get(name)
  }

  return {
    areWanted: true,
    find,
    node22() {
      const folder = find('node-22')
      const bin = folder && join(folder, 'node_modules', nodePackage, 'bin', isWindows ? 'node.exe' : 'node')
      return bin && existsSync(bin) ? bin : undefined
    },
  }
}

const isWindows = process.platform === 'win32'

/** The package `node` only fetches another one that holds the program; that one is asked for directly, with no script to run. */
const nodePackage = [
  process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node',
  isWindows ? 'win' : process.platform,
  process.arch,
].join('-')

const packagesOf = (name: PeerName): Readonly<Record<string, string>> =>
  name === 'node-22' ? { [nodePackage]: versions[name].node } : versions[name]

function install(
  name: PeerName,
  dependencies: Readonly<Record<string, string>>,
  say: (line: string) => void,
): string | undefined {
  const folder = join(cache, name)
  const wanted = JSON.stringify({ private: true, dependencies })
  // Written last, so that an installation that was cut short is not taken for one.
  const mark = join(folder, 'installed.json')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return folder
  say(
    `Installing ${Object.entries(dependencies)
      .map(([id, version]) => `${id}@${version}`)
      .join(' and ')} (once) …`,
  )
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), wanted)
  const args = ['install', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  const options = { cwd: folder, encoding: 'utf8', shell: isWindows, timeout: installMillisecondsMax } as const
  const { status, stderr } = spawnSync('npm', args, options)
  if (status !== 0) {
    say(`${name} is not installed: ${(stderr ?? '').trim().split('\n').at(-1) || 'npm failed'}`)
    return undefined
  }
  writeFileSync(mark, wanted)
  return folder
}
