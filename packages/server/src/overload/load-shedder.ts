import type { IncomingMessage, ServerResponse } from 'node:http'
import { Problem } from '../problem.ts'

/** Load shedding: beyond capacity, an immediate 503 is better than a response that no client waits for any more. */
export interface LoadShedder {
  /** For each request; counts it as in flight until its response closes. A problem refuses it. */
  admit(request: IncomingMessage, response: ServerResponse): Problem | undefined
  /** For an evaluation that was admitted, after the time that it has waited. */
  admitLate(queueMilliseconds: number): Problem | undefined
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
  /** For the lag of the event loop and the queueing time of evaluations; 0 means no limit. */
  readonly lagMillisecondsMax: number
  readonly inFlightMax: number
}

const sampleMilliseconds = 100
/** A single long tick is no overload: the loop has to be late several times in a row. */
const lateSamplesMin = 3
/** How much more it takes until management requests are shed as well. */
const managementLagFactor = 4
const managementInFlightFactor = 2
/** One in this many late evaluations is served all the same, so that clients that retry at once do not turn all work into refusals. */
const servedLateInterval = 4

export const overloaded = new Problem('unavailable', 'The server is overloaded. Try again in a moment.', {
  retryAfterSeconds: 1,
})

export function createLoadShedder({ lagMillisecondsMax, inFlightMax }: LoadLimits): LoadShedder {
  const load = { lagMilliseconds: 0, inFlight: 0, shedTotal: 0 }
  let lateSamples = 0
  let lateEvaluations = 0
  let expected = performance.now() + sampleMilliseconds
  const timer = setInterval(() => {
    const time = performance.now()
    load.lagMilliseconds = Math.max(0, time - expected)
    expected = time + sampleMilliseconds
    const isLate = lagMillisecondsMax > 0 && load.lagMilliseconds > lagMillisecondsMax
    lateSamples = isLate ? lateSamples + 1 : 0
  }, sampleMilliseconds)
  timer.unref()

  function isOverloaded(kind: 'evaluation' | 'management'): boolean {
    const lagFactor = kind === 'management' ? managementLagFactor : 1
    const countFactor = kind === 'management' ? managementInFlightFactor : 1
    const isLate = lateSamples >= lateSamplesMin && load.lagMilliseconds > lagMillisecondsMax * lagFactor
    return isLate || load.inFlight >= inFlightMax * countFactor
  }

  function shed(): Problem {
    load.shedTotal += 1
    return overloaded
  }

  return {
    load,
    admit(request, response) {
      const kind = requestKind(request.url ?? '')
      if (kind === 'operations') return undefined
      if (isOverloaded(kind)) return shed()
      // A stream stays open for hours and costs nothing meanwhile.
      if (request.headers.accept?.includes('text/event-stream')) return undefined
      load.inFlight += 1
      response.once('close', () => {
        load.inFlight -= 1
      })
      return undefined
    },
    admitLate(queueMilliseconds) {
      const isLate = lagMillisecondsMax > 0 && queueMilliseconds > lagMillisecondsMax
      return isLate && ++lateEvaluations % servedLateInterval !== 0 ? shed() : undefined
    },
    close: () => clearInterval(timer),
  }
}

/** Health probes are never shed. Definitions for SDKs count as evaluation although they are below `/api/`. */
export function requestKind(url: string): 'operations' | 'evaluation' | 'management' {
  if (url.startsWith('/flags/') || url.startsWith('/flags?')) return 'evaluation'
  if (/^\/(_livez|_readyz|livez|readyz|healthz|health|metrics)\b/.test(url)) return 'operations'
  if (/^\/api\/feature_flag\/local_evaluation|\/feature_flags\/local_evaluation/.test(url)) return 'evaluation'
  return /^\/(flags|decide|ofrep|e|batch|capture|engage|track|i|s|array)\b/.test(url) ? 'evaluation' : 'management'
}
