import type { DefinitionsBody } from '../api/sdk/definitions.ts'
import { isKnown } from '../api/sdk/etag.ts'
import { definitionsHeaders } from '../api/sdk/sdk-headers.ts'
import { memoizeByKey } from '../concurrency/memoize-by-key.ts'
import { type EncodedHeads, encodedHeads } from './compressed-body.ts'

export const definitionsPrefix = '/flags/definitions?'

/** Each client polls the same URL repeatedly. */
const pollsMax = 1000

interface Poll {
  readonly token: string | undefined
  readonly withCohorts: boolean
}

export const createPollParser = (): ((url: string) => Poll) => memoizeByKey(pollsMax, parsePoll)

/** Of a repeated parameter, the last one counts. */
function parsePoll(url: string): Poll {
  const query = new URLSearchParams(url.slice(definitionsPrefix.length))
  const cohorts = query.getAll('send_cohorts').at(-1)
  const withCohorts = cohorts !== undefined && cohorts !== 'false' && cohorts !== '0'
  return { token: query.getAll('token').at(-1), withCohorts }
}

/** The heads of the responses to a poll, made once per version of the definitions. */
export function createDefinitionsHeads(common: Readonly<Record<string, string>>, contentType: string) {
  const known = new WeakMap<DefinitionsBody, Readonly<Record<200 | 304, EncodedHeads>>>()
  return (definitions: DefinitionsBody, ifNoneMatch: string | undefined) => {
    let heads = known.get(definitions)
    if (heads === undefined) {
      const headers = { ...common, ...definitionsHeaders(definitions) }
      heads = { 200: encodedHeads(200, { ...headers, 'content-type': contentType }), 304: encodedHeads(304, headers) }
      known.set(definitions, heads)
    }
    const status = isKnown(ifNoneMatch, definitions.etag) ? 304 : 200
    return { status, heads: heads[status] } as const
  }
}
