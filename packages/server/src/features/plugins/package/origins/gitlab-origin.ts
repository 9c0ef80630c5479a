import type { Outgoing } from '../../../../outgoing/outgoing.ts'
import { isObject } from '../config-field.ts'
import type { GitLabAddress } from '../plugin-address.ts'
import type { GitOriginOptions } from './github-origin.ts'
import { lookupFailed, type Origin, originLimits } from './origin.ts'
import { bearer, fetchArchive, lookUp } from './origin-request.ts'

export const gitLabApi = 'https://gitlab.com/api/v4'

export function createGitLabOrigin(
  outgoing: Outgoing,
  { api = gitLabApi, token: instanceToken, limits = originLimits }: GitOriginOptions = {},
): Origin<GitLabAddress> {
  const repository = ({ project }: GitLabAddress) => `${api}/projects/${encodeURIComponent(project)}/repository`
  const headers = (token: string | undefined) => bearer(token ?? instanceToken)

  return {
    /** A branch is resolved to its newest commit, so that an update is noticed. */
    async findLatest(address, token, signal) {
      const query = new URLSearchParams({ per_page: '1', ...(address.ref && { ref_name: address.ref }) })
      const commits = await lookUp(outgoing, `${repository(address)}/commits?${query}`, headers(token), limits, signal)
      const newest = Array.isArray(commits) ? commits[0] : undefined
      if (!isObject(newest) || typeof newest.id !== 'string') throw lookupFailed('the project has no such commit.')
      return newest.id
    },
    async download(address, tag, token, signal) {
      const url = `${repository(address)}/archive.zip?${new URLSearchParams({ sha: tag })}`
      return { tag, archive: await fetchArchive(outgoing, url, headers(token), limits, signal), folder: undefined }
    },
  }
}
