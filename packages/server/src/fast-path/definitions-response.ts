import type { IncomingHttpHeaders } from 'node:http'
import type { DefinitionsBody } from '../api/sdk/definitions.ts'
import { isKnown } from '../api/sdk/etag.ts'
import type { EvaluationCounts } from '../api/sdk/evaluation-counts.ts'
import { credentialOf } from '../api/sdk/sdk-access.ts'
import { memoizeByKey } from '../concurrency/memoize-by-key.ts'
import { bodyFrom, type FastResponse, type ResponseHead, responseHead } from './fast-response.ts'
import type { ResponseBuffer } from './response-buffer.ts'

/** What is in memory for a credential and a token. */
export type KnownDefinitions = (key: string, token: string, withCohorts: boolean) => DefinitionsBody | undefined

export const definitionsPrefix = '/flags/definitions?'

/** Answers polls for definitions that are at hand, with all of them or with the word that they have not changed. */
export type DefinitionsResponder = (url: string, headers: IncomingHttpHeaders) => FastResponse | undefined

/** What a poll asks for. */
interface Poll {
  readonly token: string | undefined
  readonly withCohorts: boolean
}

/** Every client polls at the same address again and again. */
const pollsMax = 1000
const noBody = Buffer.alloc(0)
/** More than that is sent as it lies in memory, the long way, rather than copied. */
const bodyBytesMax = 512 * 1024

interface Heads {
  readonly unchanged: ResponseHead
  readonly whole: ResponseHead
}

export function createDefinitionsResponder(
  knownDefinitions: KnownDefinitions,
  counts: EvaluationCounts,
  room: ResponseBuffer,
): DefinitionsResponder {
  const readPoll = memoizeByKey(pollsMax, pollOf)
  const heads = new WeakMap<DefinitionsBody, Heads>()

  function headsOf(definitions: DefinitionsBody): Heads {
    const made = heads.get(definitions) ?? makeHeads(definitions)
    heads.set(definitions, made)
    return made
  }

  return (url, headers) => {
    const key = credentialOf(headers)
    if (key === undefined) return undefined
    const { token, withCohorts } = readPoll(url)
    const known = token === undefined ? undefined : knownDefinitions(key, token, withCohorts)
    if (!known) return undefined
    const { unchanged, whole } = headsOf(known)
    if (isKnown(headers['if-none-match'], known.etag)) {
      counts.addUnchanged()
      return { head: unchanged, ...bodyFrom(room, noBody) }
    }
    if (known.json.length > bodyBytesMax) return undefined
    counts.addDefinitions()
    return { head: whole, ...bodyFrom(room, known.json) }
  }
}

/** Of a parameter that is given several times, the last counts. */
function pollOf(url: string): Poll {
  const query = new URLSearchParams(url.slice(definitionsPrefix.length))
  const cohorts = query.getAll('send_cohorts').at(-1)
  const withCohorts = cohorts !== undefined && cohorts !== 'false' && cohorts !== '0'
  return { token: query.getAll('token').at(-1), withCohorts }
}

function makeHeads({ etag }: DefinitionsBody): Heads {
  const fields = [
    'cache-control',
    'private, must-revalidate',
    'access-control-allow-origin',
    '*',
    'access-control-expose-headers',
    'ETag',
    'etag',
    etag,
  ]
  return { unchanged: responseHead(304, fields), whole: responseHead(200, [...fields, ...jsonFields]) }
}

/** As every answer of the long way has them. */
const jsonFields = [
  'content-type',
  'application/json; charset=utf-8',
  'content-security-policy',
  "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy',
  'same-origin',
  'referrer-policy',
  'no-referrer',
  'x-frame-options',
  'DENY',
  'cross-origin-resource-policy',
  'cross-origin',
  'x-content-type-options',
  'nosniff',
]
