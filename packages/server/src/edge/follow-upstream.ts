import { setTimeout as wait } from 'node:timers/promises'
import { retryDelay } from '../concurrency/retry-delay.ts'
import { parseWeighedJson } from '../http/sdk-body/json-text.ts'
import type { Replica } from './replica.ts'
import { createStateStage, StateGap } from './state-stage.ts'
import { type Upstream, UpstreamError } from './upstream.ts'

/** `following`: this edge has the complete state of the upstream. `refused`: its key was revoked. `rejected`: the URL is not right. */
export type ConnectionState = 'connecting' | 'following' | 'away' | 'refused' | 'rejected'

export interface Following {
  readonly connection: ConnectionState
  /** When this edge last had the complete state of a connected upstream, in milliseconds; undefined before that. */
  readonly currentAt: number | undefined
  readonly connects: number
  /** Resolves after the first attempt, with the error if it failed. */
  readonly firstAttempt: Promise<Error | undefined>
  close(): Promise<void>
}

interface Options {
  readonly upstream: Upstream
  readonly replica: Replica
  readonly stateBytesMax: number
  /** The served state has changed and is complete. */
  readonly onCurrent: () => void
  /** The connection has failed; `connection` says how. */
  readonly onFailed?: () => void
  readonly log: { info(details: object, message: string): void; warn(details: object, message: string): void }
}

const retryMilliseconds = { first: 250, max: 30_000 }

/** Follows the upstream, and resumes by digest when the connection is lost. */
export function followUpstream(options: Options): Following {
  const { upstream, replica, stateBytesMax, onCurrent, onFailed, log } = options
  const closing = new AbortController()
  /** Projects whose update could not be applied; they are requested again. */
  const doubtful = new Set<string>()
  let connection: ConnectionState = 'connecting'
  let currentAt: number | undefined
  let connects = 0
  let failures = 0
  let resolveFirst: (error: Error | undefined) => void = () => {}
  const firstAttempt = new Promise<Error | undefined>(resolve => {
    resolveFirst = resolve
  })

  const have = (): Record<string, string> =>
    Object.fromEntries(
      replica
        .all()
        .filter(({ project }) => !doubtful.has(project))
        .map(({ project, digest }) => [project, digest]),
    )

  /** Returns after how long to reconnect, if the upstream sent that before it ended the stream. */
  async function follow(): Promise<number | undefined> {
    const stage = createStateStage(replica, stateBytesMax)
    let retryMilliseconds: number | undefined
    for await (const frame of upstream.follow(have(), closing.signal)) {
      if (frame && 'retryMilliseconds' in frame) retryMilliseconds = frame.retryMilliseconds
      else if (frame?.event === 'project') {
        connection = connection === 'following' ? 'following' : 'connecting'
        await stage.take(frame.data)
      } else if (frame?.event === 'gone') await replica.remove(goneProject(frame.data))
      else if (frame?.event === 'current') {
        if (connection !== 'following') log.info({ projects: replica.all().length }, 'following the upstream')
        connection = 'following'
        failures = 0
        doubtful.clear()
        onCurrent()
        resolveFirst(undefined)
      }
      if (connection === 'following') currentAt = Date.now()
    }
    return retryMilliseconds
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      connects += 1
      const end = await follow().catch(error => error as Error)
      if (closing.signal.aborted) return
      const error = end instanceof Error ? end : undefined
      if (error instanceof StateGap && replica.stateOf(error.project)) doubtful.add(error.project)
      connection = error instanceof UpstreamError ? error.kind : 'away'
      onFailed?.()
      // The upstream may ask for more time, but not for a connection right after another.
      const asked = typeof end === 'number' ? Math.min(end, retryMilliseconds.max) : 0
      const pause = Math.round(Math.max(asked, retryDelay(++failures, retryMilliseconds)))
      log.warn(
        { problem: error?.message ?? 'the stream ended', retryMilliseconds: pause },
        'not following the upstream',
      )
      resolveFirst(error ?? new Error('The stream ended.'))
      await wait(pause, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  const running = run()
  return {
    get connection() {
      return connection
    },
    get currentAt() {
      return currentAt
    },
    get connects() {
      return connects
    },
    firstAttempt,
    async close() {
      closing.abort()
      await running
    },
  }
}

const goneProject = (data: string): string => String((parseWeighedJson(data) as { project?: unknown } | null)?.project)
