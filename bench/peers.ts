import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import versions from './peers/versions.json' with { type: 'json' }

export type PeerName = keyof typeof versions

/** Engines and servers of other projects, pinned in `peers/versions.json`. The product does not depend on them. */
export interface Peers {
  /** False with `--no-peers`; then missing peers are not reported. */
  readonly areEnabled: boolean
  /** The folder with the peer's `node_modules`; undefined (and logged) when it could not be installed. */
  find(name: PeerName): string | undefined
  /** The program of another Node version. Some peers require 22 or are faster on it. */
  node(major: 22): string | undefined
}

const cache = fileURLToPath(new URL('./peers/', import.meta.url))
/** The largest peer has 430 packages, which a slow registry or a busy machine delivers in minutes. */
const installMinutesMax = 15
const messageCharactersMax = 400

export const noPeers: Peers = { areEnabled: false, find: () => undefined, node: () => undefined }

/** Installs each peer on first use, into its own folder in the cache, so that their dependencies cannot conflict. */
export function createPeers(log: (line: string) => void): Peers {
  const folders = new Map<PeerName, string | undefined>()

  function find(name: PeerName): string | undefined {
    if (!folders.has(name)) folders.set(name, install(name, packagesOf(name), log))
    return folders.get(name)
  }

  return {
    areEnabled: true,
    find,
    node(major) {
      const folder = find(`node-${major}`)
      const bin = folder && join(folder, 'node_modules', nodePackage, 'bin', isWindows ? 'node.exe' : 'node')
      return bin && existsSync(bin) ? bin : undefined
    },
  }
}

const isWindows = process.platform === 'win32'

/** The package `node` only downloads a platform package in a script; this installs the platform package directly. */
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
  log: (line: string) => void,
): string | undefined {
  const folder = join(cache, name)
  const wanted = JSON.stringify({ private: true, dependencies })
  // Written last, so that an interrupted installation does not count as complete.
  const mark = join(folder, 'installed.json')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return folder
  const packages = Object.entries(dependencies).map(([id, version]) => `${id}@${version}`)
  log(`Installing ${packages.join(' and ')} (once, up to ${installMinutesMax} minutes) …`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), wanted)
  // npm retains what it has downloaded, so that a next attempt continues where this one failed.
  const args = ['install', '--prefer-offline', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts']
  const result = spawnSync('npm', [...args, '--fetch-retries=5', '--loglevel=error'], {
    cwd: folder,
    encoding: 'utf8',
    shell: isWindows,
    timeout: installMinutesMax * 60_000,
  })
  if (result.status !== 0) {
    log(`${name} is not installed: ${reasonOf(result)} The next run continues the installation.`)
    return undefined
  }
  writeFileSync(mark, wanted)
  return folder
}

function reasonOf({ error, stderr, status }: SpawnSyncReturns<string>): string {
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT')
    return `npm took more than ${installMinutesMax} minutes.`
  if (error) return `npm did not start: ${error.message}.`
  const lines = stderr.split('\n').flatMap(line => /^npm error (?!A complete log)(\S.*)/.exec(line)?.[1] ?? [])
  return `npm exited with ${status}: ${lines.join('; ').slice(0, messageCharactersMax)}.`
}
