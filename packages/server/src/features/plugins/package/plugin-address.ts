import { invalid, type Problem } from '../../../problem.ts'
import { withoutTrailingSlashes } from '../../../settings/setting-values.ts'

/** Where a plugin can be fetched from, read from the address that a person pasted. */
export type PluginAddress = NpmAddress | GitHubAddress | GitLabAddress | LocalAddress

export interface NpmAddress {
  readonly host: 'npm'
  readonly name: string
  /** Pins the plugin; absent means the newest. */
  readonly version: string | undefined
}

export interface GitHubAddress {
  readonly host: 'github'
  readonly owner: string
  readonly repository: string
  /** A branch moves, everything else stays what it is. */
  readonly ref: { readonly kind: 'branch' | 'commit' | 'tag' | 'archive'; readonly name: string } | undefined
  /** A folder inside the repository that is the plugin. */
  readonly folder: string | undefined
}

export interface GitLabAddress {
  readonly host: 'gitlab'
  /** Groups and project, joined by slashes. */
  readonly project: string
  readonly ref: string | undefined
}

export interface LocalAddress {
  readonly host: 'local'
  readonly folder: string
}

export interface ParsedAddress {
  readonly address: PluginAddress
  /** The address without its query, which is what the API shows. */
  readonly url: string
  /** From the query `private_token`; it never leaves the server. */
  readonly token: string | undefined
}

export const urlCharactersMax = 800

const word = '[A-Za-z0-9_.-]+'
const github = new RegExp(
  `^https?://(?:www\\.)?github\\.com/(${word})/(${word})` +
    `(?:/(?:commit/(${word})|tree/(${word})(?:/(.+))?|releases/tag/(${word})|archive/(.+?)(?:\\.zip|\\.tar\\.gz)))?$`,
)
const gitlab = new RegExp(`^https?://(?:www\\.)?gitlab\\.com/(${word}(?:/${word})+)$`)
const gitlabRef = new RegExp(`^(?:tree|commit|archive)/(${word})(?:/.*)?$`)
const npm = /^https?:\/\/(?:www\.)?npmjs\.com\/package\/((?:@[^/]+\/)?[^/]+)(?:\/v\/([0-9A-Za-z.+-]+))?$/
const npmName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/
const localFolder = /^file:(?!\/\/)(.+)$/
const npmNameCharactersMax = 214

export function isNpmName(name: string): boolean {
  return name.length <= npmNameCharactersMax && npmName.test(name)
}

export const npmPageUrl = (name: string): string => `https://www.npmjs.com/package/${name}`

/** Raises `invalid` with attr `url` when the address is none that plugins can come from. */
export function parseAddress(text: string): ParsedAddress {
  if (text.length > urlCharactersMax) throw fault(`The address is longer than ${urlCharactersMax} characters.`)
  const [before, ...query] = text.trim().split('?')
  const url = withoutTrailingSlashes(before!)
  const address = readNpm(url) ?? readGitHub(url) ?? readGitLab(url) ?? readLocal(url)
  if (!address) throw fault('Plugins come from npmjs.com, github.com or gitlab.com; this address is none of these.')
  return { address, url, token: new URLSearchParams(query.join('?')).get('private_token') ?? undefined }
}

function readNpm(url: string): NpmAddress | undefined {
  const match = npm.exec(url)
  const name = match?.[1]
  return name && isNpmName(name) ? { host: 'npm', name, version: match?.[2] } : undefined
}

function readGitHub(url: string): GitHubAddress | undefined {
  const match = github.exec(url)
  if (!match) return undefined
  const [, owner, repository, commit, branch, folder, tag, archive] = match
  if (isDots(owner!) || isDots(repository!) || folder?.split('/').some(isDots)) return undefined
  const ref = commit
    ? { kind: 'commit' as const, name: commit }
    : branch
      ? { kind: /^[0-9a-f]{40}$/.test(branch) ? ('commit' as const) : ('branch' as const), name: branch }
      : tag
        ? { kind: 'tag' as const, name: tag }
        : archive
          ? { kind: 'archive' as const, name: archive }
          : undefined
  return { host: 'github', owner: owner!, repository: repository!, ref, folder }
}

function readGitLab(url: string): GitLabAddress | undefined {
  const end = url.indexOf('/-/')
  const project = gitlab.exec(end === -1 ? url : url.slice(0, end))?.[1]
  const ref = end === -1 ? undefined : gitlabRef.exec(url.slice(end + 3))?.[1]
  if (!project || project.split('/').some(isDots) || (end !== -1 && !ref)) return undefined
  return { host: 'gitlab', project, ref }
}

function readLocal(url: string): LocalAddress | undefined {
  const folder = localFolder.exec(url)?.[1]
  return folder ? { host: 'local', folder } : undefined
}

const isDots = (segment: string): boolean => segment === '.' || segment === '..' || segment === ''

function fault(message: string): Problem {
  return invalid('url', 'invalid_input', message)
}
