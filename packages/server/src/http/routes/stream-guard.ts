import type { ServerResponse } from 'node:http'
import { Problem, type ProblemKind } from '../../problem.ts'
import type { ChangeFeed } from '../../storage/changes/changes.ts'
import { endStream } from './end-streams.ts'

/** Ends open streams whose caller has lost access. Every response that outlives its authorization is watched here. */
export interface StreamGuard {
  watch(stream: WatchedStream): void
  close(): void
}

export interface WatchedStream {
  readonly response: ServerResponse
  /** Authorizes the caller again. Raises `unauthenticated`, `forbidden` or `missing` when access is lost. */
  readonly check: () => Promise<unknown>
  /** Streams of one caller with the same name share their checks. */
  readonly name?: string
  readonly onRefused?: (response: ServerResponse) => void
}

export interface StreamGuardLimits {
  /** Keys expire without a change, so streams are also checked at this interval. */
  readonly checkMilliseconds: number
}

interface Watch {
  readonly check: () => Promise<unknown>
  readonly streams: Map<ServerResponse, (response: ServerResponse) => void>
  isChecking: boolean
  isStale: boolean
}

const refusals: ReadonlySet<ProblemKind> = new Set(['unauthenticated', 'forbidden', 'missing'])

/** During a database outage the last known access applies. */
const isRefusal = (error: unknown): boolean => error instanceof Problem && refusals.has(error.kind)

export function createStreamGuard(
  changes: Pick<ChangeFeed, 'subscribe'>,
  { checkMilliseconds }: StreamGuardLimits = { checkMilliseconds: 1000 },
): StreamGuard {
  const watches = new Map<string | ServerResponse, Watch>()

  async function check(watch: Watch): Promise<void> {
    watch.isStale = true
    if (watch.isChecking) return
    watch.isChecking = true
    while (watch.isStale) {
      watch.isStale = false
      await watch.check().catch(error => {
        if (!isRefusal(error)) return
        for (const [response, refuse] of watch.streams) refuse(response)
      })
    }
    watch.isChecking = false
  }
  // Not awaited: looking up a key may wait for the very changes that are being delivered.
  const checkAll = () => {
    for (const watch of watches.values()) void check(watch)
  }
  const unsubscribe = changes.subscribe(batch => {
    if (batch.some(({ topic }) => topic === 'identity' || topic === 'project')) checkAll()
  }, checkAll)
  const timer = setInterval(checkAll, checkMilliseconds)
  timer.unref()

  return {
    watch({ response, check, name, onRefused = endStream }) {
      const key = name ?? response
      const watch: Watch = watches.get(key) ?? { check, streams: new Map(), isChecking: false, isStale: false }
      watches.set(key, watch)
      watch.streams.set(response, onRefused)
      response.once('close', () => {
        watch.streams.delete(response)
        if (watch.streams.size === 0 && watches.get(key) === watch) watches.delete(key)
      })
    },
    close() {
      clearInterval(timer)
      unsubscribe()
    },
  }
}
