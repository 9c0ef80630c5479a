import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { invalid } from '../../../../problem.ts'
import { withoutTrailingSlashes } from '../../../../settings/setting-values.ts'

/** The registry that packages of a name come from, and the token for it if the machine has one. */
export interface NpmRegistry {
  /** Without a slash at its end. */
  readonly url: string
  readonly token: string | undefined
}

export interface NpmSettings {
  registryFor(packageName: string): NpmRegistry
  /** All registries in the settings. */
  readonly origins: readonly string[]
}

type Environment = Readonly<Record<string, string | undefined>>

const npmAnswerMsMax = 10_000

/**
 * The registry of the npm client on this machine: `HALYARD_NPM_REGISTRY` first, then what npm itself would use, from
 * its variables and from the npmrc files of the folder, the user and the installation, and at last from `npm config`, which
 * runs only when a package is looked up.
 */
export function readNpmSettings(
  env: Environment,
  folder: string,
  readText = readIfThere,
  askNpm = registryOfNpm,
): NpmSettings {
  const files = [
    env.npm_config_globalconfig,
    env.npm_config_userconfig ?? env.NPM_CONFIG_USERCONFIG ?? join(homedir(), '.npmrc'),
    join(folder, '.npmrc'),
  ]
  const lines = new Map(files.flatMap(file => (file ? parseNpmrc(readText(file), env) : [])))
  const chosen = env.HALYARD_NPM_REGISTRY || env.npm_config_registry || env.NPM_CONFIG_REGISTRY || lines.get('registry')
  let defaultRegistry = chosen ? withoutTrailingSlashes(chosen) : undefined
  function fallback(): string {
    defaultRegistry ??= withoutTrailingSlashes(askNpm())
    return defaultRegistry
  }

  function urlFor(packageName: string): string {
    if (env.HALYARD_NPM_REGISTRY || !packageName.startsWith('@')) return fallback()
    return withoutTrailingSlashes(lines.get(`${packageName.split('/')[0]}:registry`) || fallback())
  }
  const scoped = [...lines].filter(([key]) => key.endsWith(':registry')).map(([, url]) => url)
  return {
    registryFor(packageName) {
      const url = urlFor(packageName)
      return { url, token: findToken(lines, url) }
    },
    get origins() {
      const urls = [fallback(), ...scoped].filter(url => URL.canParse(url))
      return [...new Set(urls.map(url => new URL(url).origin))]
    },
  }
}

/** Tokens stand under the address without its protocol, `//host/path/:_authToken`, the longest fitting path first. */
function findToken(lines: ReadonlyMap<string, string>, registry: string): string | undefined {
  for (let path = `${registry.replace(/^https?:/, '')}/`; path.length > 2; path = parentOf(path)) {
    const token = lines.get(`${path}:_authToken`)
    if (token) return token
  }
  return undefined
}

function parseNpmrc(text: string, env: Environment): [string, string][] {
  return text.split('\n').flatMap(line => {
    const at = line.indexOf('=')
    const name = line.slice(0, Math.max(0, at)).trim()
    if (name === '' || name.startsWith('#') || name.startsWith(';')) return []
    const value = line
      .slice(at + 1)
      .trim()
      .replace(/^"(.*)"$/, '$1')
    return [[name, value.replace(/\$\{([^${}]+)\}/g, (_all, variable: string) => env[variable] ?? '')]]
  })
}

/** `//host/a/` of `//host/a/b/`. */
const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/', path.length - 2) + 1)

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function registryOfNpm(): string {
  try {
    return execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', timeout: npmAnswerMsMax }).trim()
  } catch {
    throw invalid('url', 'lookup_failed', 'npm is not installed, so its registry is unknown. Set HALYARD_NPM_REGISTRY.')
  }
}
