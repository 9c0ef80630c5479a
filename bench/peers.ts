import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Other people's engines, pinned in `peers/package.json`. */
export interface Peers {
  /** The package, or undefined when it could not be installed; then its figures are left out and a line says so. */
  find(name: string): unknown
}

const folder = fileURLToPath(new URL('../../bench/peers/', import.meta.url))

export const noPeers: Peers = { find: () => undefined }

/** Installs them at the first time, outside the workspaces: nothing of the product depends on them. */
export function installPeers(say: (line: string) => void): Peers {
  if (!existsSync(`${folder}node_modules/.package-lock.json`)) {
    say('Installing the peers (once) …')
    const args = ['install', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    spawnSync('npm', args, { cwd: folder, stdio: 'inherit', shell: process.platform === 'win32' })
  }
  const require = createRequire(`${folder}package.json`)
  const attempt = <T>(name: string, get: () => T): T | undefined => {
    try {
      return get()
    } catch (error) {
      say(`Without ${name}: ${(error as Error).message.split('\n', 1)[0]}`)
      return undefined
    }
  }
  return {
    find: name => attempt(name, () => require(name)),
  }
}
