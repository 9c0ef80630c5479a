import type { Outgoing } from '../../../../outgoing/outgoing.ts'
import { isObject } from '../config-field.ts'
import type { GitHubAddress } from '../plugin-address.ts'
import { lookupFailed, type Origin, type OriginLimits, originLimits } from './origin.ts'
import { bearer, fetchArchive, lookUp } from './origin-request.ts'

export const gitHubApi = 'https://api.github.com'

export function createGitHubOrigin(
  outgoing: Outgoing,
  { api = gitHubApi, token: instanceToken, limits = originLimits }: GitOriginOptions = {},
): Origin<GitHubAddress> {
  const repository = (address: GitHubAddress) => `${api}/repos/${address.owner}/${address.repository}`
  const headers = (token: string | undefined) => bearer(token ?? instanceToken)

  return {
    async findLatest(address, token, signal) {
      const { ref, folder } = address
      if (ref && ref.kind !== 'branch') return ref.kind === 'tag' ? `refs/tags/${ref.name}` : ref.name
      const query = new URLSearchParams({
        per_page: '1',
        ...(ref && { sha: ref.name }),
        ...(folder && { path: folder }),
      })
      const commits = await lookUp(outgoing, `${repository(address)}/commits?${query}`, headers(token), limits, signal)
      const newest = Array.isArray(commits) ? commits[0] : undefined
      if (!isObject(newest) || typeof newest.sha !== 'string') throw lookupFailed('the repository has no such commit.')
      return newest.sha
    },
    async download(address, tag, token, signal) {
      const path = tag.split('/').map(encodeURIComponent).join('/')
      const archive = await fetchArchive(
        outgoing,
        `${repository(address)}/zipball/${path}`,
        headers(token),
        limits,
        signal,
      )
      return { tag, archive, folder: address.folder }
    },
  }
}

export interface GitOriginOptions {
  /** The URL of the API, which differs for self-hosted installations. */
  api?: string | undefined
  /** Used when the address carries no token of its own. */
  token?: string | undefined
  limits?: OriginLimits
}
