import type { IncomingHttpHeaders } from 'node:http'
import type { AnswerRoom } from '../http/answer-room.ts'
import { type AnswerHead, answerHead, bodyFrom, type QuickAnswer } from '../http/quick-answer.ts'
import { remembering } from '../remember-by-text.ts'
import type { DefinitionsBody } from './definitions.ts'
import { isKnown } from './etag.ts'
import type { EvaluationCounts } from './evaluation-counts.ts'
import { credentialOf } from './sdk-access.ts'

/** What is in memory for a credential and a token. */
export type KnownDefinitions = (key: string, token: string, withCohorts: boolean) => DefinitionsBody | undefined

export const definitionsPrefix = '/flags/definitions?'

/** Answers polls for definitions that have not changed; everything else is worth the long way. */
export type FastDefinitions = (url: string, headers: IncomingHttpHeaders) => QuickAnswer | undefined

/** What a poll asks for. */
interface Poll {
  readonly token: string | undefined
  readonly withCohorts: boolean
}

/** Every client polls at the same address again and again. */
const pollsMax = 1000
const noBody = Buffer.alloc(0)

export function createFastDefinitions(
  knownDefinitions: KnownDefinitions,
  counts: EvaluationCounts,
  room: AnswerRoom,
): FastDefinitions {
  const readPoll = remembering(pollsMax, pollOf)
  const heads = new WeakMap<DefinitionsBody, AnswerHead>()

  function headOf(definitions: DefinitionsBody): AnswerHead {
    const head = heads.get(definitions) ?? unchangedHead(definitions)
    heads.set(definitions, head)
    return head
  }

  return (url, headers) => {
    const told = headers['if-none-match']
    const key = told === undefined ? undefined : credentialOf(headers)
    if (key === undefined) return undefined
    const { token, withCohorts } = readPoll(url)
    const known = token === undefined ? undefined : knownDefinitions(key, token, withCohorts)
    if (!known || !isKnown(told, known.etag)) return undefined
    counts.addUnchanged()
    return { head: headOf(known), ...bodyFrom(room, noBody) }
  }
}

/** Of a parameter that is given several times, the last counts. */
function pollOf(url: string): Poll {
  const query = new URLSearchParams(url.slice(definitionsPrefix.length))
  const cohorts = query.getAll('send_cohorts').at(-1)
  const withCohorts = cohorts !== undefined && cohorts !== 'false' && cohorts !== '0'
  return { token: query.getAll('token').at(-1), withCohorts }
}

const unchangedHead = ({ etag }: DefinitionsBody): AnswerHead =>
  answerHead(304, [
    'cache-control',
    'private, must-revalidate',
    'access-control-allow-origin',
    '*',
    'access-control-expose-headers',
    'ETag',
    'etag',
    etag,
  ])
