import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyFrom, type FastResponse, responseHead } from '../fast-path/fast-response.ts'
import type { ResponseBuffer } from '../fast-path/response-buffer.ts'

/** Says no in time: beyond what this process can do, a quick 503 is better than an answer that nobody waits for any more. */
export interface LoadShedder {
  /** True when the request was answered 503; nobody else may touch it then. */
  refuse(request: IncomingMessage, response: ServerResponse): boolean
  /** The same for an evaluation that would be answered at once: what it is answered instead, undefined when there is room for it. */
  refuseEvaluation(room: ResponseBuffer): FastResponse | undefined
  readonly load: Load
  close(): void
}

export interface Load {
  /** How late the event loop is. */
  readonly lagMilliseconds: number
  readonly inFlight: number
  readonly shedTotal: number
}

export interface LoadLimits {
  /** 0 means: however late. */
  readonly lagMillisecondsMax: number
  readonly inFlightMax: number
}

const sampleMilliseconds = 100
/** One long stall is no overload: it is one when the loop is late again and again. */
const lateSamplesMin = 3
/** How much more it takes until people who manage flags are turned away as well. */
const managementLagFactor = 4
const managementInFlightFactor = 2
const retryAfterSeconds = 1

const refusal = Buffer.from(
  JSON.stringify({
    type: 'server_error',
    code: 'unavailable',
    detail: 'This server has more to do than it can. Try again in a moment.',
    attr: null,
  }),
)

const refusalFields = [
  'content-type',
  'application/json; charset=utf-8',
  'retry-after',
  String(retryAfterSeconds),
  'cache-control',
  'no-store',
  'x-content-type-options',
  'nosniff',
]
const evaluationRefusalHead = responseHead(503, [...refusalFields, 'access-control-allow-origin', '*'])

export function createLoadShedder({ lagMillisecondsMax, inFlightMax }: LoadLimits): LoadShedder {
  const load = { lagMilliseconds: 0, inFlight: 0, shedTotal: 0 }
  let lateSamples = 0
  let expected = performance.now() + sampleMilliseconds
  const timer = setInterval(() => {
    const time = performance.now()
    load.lagMilliseconds = Math.max(0, time - expected)
    expected = time + sampleMilliseconds
    const isLate = lagMillisecondsMax > 0 && load.lagMilliseconds > lagMillisecondsMax
    lateSamples = isLate ? lateSamples + 1 : 0
  }, sampleMilliseconds)
  timer.unref()

  function isTooMuch(kind: 'evaluation' | 'management'): boolean {
    const lagFactor = kind === 'management' ? managementLagFactor : 1
    const countFactor = kind === 'management' ? managementInFlightFactor : 1
    const isLate = lateSamples >= lateSamplesMin && load.lagMilliseconds > lagMillisecondsMax * lagFactor
    return isLate || load.inFlight >= inFlightMax * countFactor
  }

  return {
    load,
    refuse(request, response) {
      const kind = kindOf(request.url ?? '')
      if (kind === 'operations') return false
      if (isTooMuch(kind)) {
        load.shedTotal += 1
        answerBusy(response, kind)
        return true
      }
      // A stream stays for hours and costs nothing meanwhile.
      if (request.headers.accept?.includes('text/event-stream')) return false
      load.inFlight += 1
      response.once('close', () => {
        load.inFlight -= 1
      })
      return false
    },
    refuseEvaluation(room) {
      if (!isTooMuch('evaluation')) return undefined
      load.shedTotal += 1
      return { head: evaluationRefusalHead, ...bodyFrom(room, refusal) }
    },
    close: () => clearInterval(timer),
  }
}

/** Supervisors are always answered. Definitions for client libraries count as evaluation although they lie below `/api/`. */
function kindOf(url: string): 'operations' | 'evaluation' | 'management' {
  if (url.startsWith('/flags/') || url.startsWith('/flags?')) return 'evaluation'
  if (/^\/(_livez|_readyz|metrics)\b/.test(url)) return 'operations'
  if (/^\/api\/feature_flag\/local_evaluation|\/feature_flags\/local_evaluation/.test(url)) return 'evaluation'
  return /^\/(flags|decide|ofrep|e|batch|capture|engage|track|i|s|array)\b/.test(url) ? 'evaluation' : 'management'
}

function answerBusy(response: ServerResponse, kind: 'evaluation' | 'management'): void {
  const fields = kind === 'evaluation' ? evaluationRefusalHead.fields : refusalFields
  response.writeHead(503, [...fields, 'content-length', String(refusal.length)]).end(refusal)
}
