import {
  type Outgoing,
  type OutgoingAnswer,
  OutgoingFailure,
  type OutgoingRequest,
} from '../../../../outgoing/outgoing.ts'
import type { Problem } from '../../../../problem.ts'
import { downloadFailed, lookupFailed, type OriginLimits } from './origin.ts'

type Headers = Readonly<Record<string, string>>

/** Fetches a JSON document. Raises `lookup_failed`. */
export async function lookUp(
  outgoing: Outgoing,
  url: string,
  headers: Headers,
  limits: OriginLimits,
  signal?: AbortSignal,
): Promise<unknown> {
  const request = { url, headers, answerBytesMax: limits.answerBytesMax, timeoutMsMax: limits.timeoutMsMax, signal }
  const answer = await ask(outgoing, request, lookupFailed)
  try {
    return JSON.parse(answer.body.toString())
  } catch {
    throw lookupFailed(`${new URL(url).host} did not answer with JSON.`)
  }
}

/** Fetches an archive. Raises `download_failed`. */
export async function fetchArchive(
  outgoing: Outgoing,
  url: string,
  headers: Headers,
  limits: OriginLimits,
  signal?: AbortSignal,
) {
  const request = { url, headers, answerBytesMax: limits.archiveBytesMax, timeoutMsMax: limits.timeoutMsMax, signal }
  const answer = await ask(outgoing, request, downloadFailed)
  return answer.body
}

async function ask(
  outgoing: Outgoing,
  request: OutgoingRequest,
  fault: (reason: string) => Problem,
): Promise<OutgoingAnswer> {
  const { url } = request
  const answer = await outgoing.request(request).catch(error => {
    throw error instanceof OutgoingFailure ? fault(error.message) : error
  })
  if (answer.status === 404) throw fault(`${new URL(url).host} does not have it.`)
  if (answer.status !== 200) throw fault(`${new URL(url).host} answered with status ${answer.status}.`)
  return answer
}

export const bearer = (token: string | undefined): Headers => (token ? { authorization: `Bearer ${token}` } : {})
