import { setTimeout as wait } from 'node:timers/promises'
import { edgeBatchesMax } from '@halyard/contract'
import { retryDelay } from '../concurrency/retry-delay.ts'
import type { EventSpool } from './event-spool.ts'
import { type Upstream, UpstreamError } from './upstream.ts'

export interface Forwarding {
  /** Batches that the upstream has accepted. */
  readonly forwarded: number
  /** Batches that the upstream will never accept: of a deleted project, or unreadable. */
  readonly dropped: number
  close(): Promise<void>
}

interface Options {
  readonly spool: EventSpool
  readonly upstream: Upstream
  readonly log: { warn(details: object, message: string): void; error(details: object, message: string): void }
}

const requestCharactersMax = 4 * 1024 * 1024
const retryMilliseconds = { first: 250, max: 30_000 }

/**
 * Sends the spool to the upstream, oldest first, with at-least-once delivery. A batch may be sent twice, when a response was lost or this
 * process crashed; the upstream deduplicates by id.
 */
export function forwardEvents({ spool, upstream, log }: Options): Forwarding {
  const closing = new AbortController()
  let forwarded = 0
  let dropped = 0

  async function send(batches: readonly string[]): Promise<void> {
    try {
      const refused = await upstream.send(batches, closing.signal)
      forwarded += batches.length - refused.length
      if (refused.length > 0) drop(refused.length, 'no project of this key takes them')
    } catch (error) {
      if (!(error instanceof UpstreamError) || !error.isFinal) throw error
      if (batches.length === 1) return drop(1, error.message)
      for (const batch of batches) await send([batch])
    }
  }

  function drop(batches: number, reason: string): void {
    dropped += batches
    log.error({ batches, reason }, 'batches of events were dropped')
  }

  async function sendUntilTaken(batches: readonly string[]): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; failures++) {
      try {
        return await send(batches)
      } catch (error) {
        if (closing.signal.aborted) return
        if (failures === 0) log.warn({ problem: (error as Error).message }, 'events wait for the upstream')
        await pause(failures + 1)
      }
    }
  }

  async function forwardOldest(): Promise<void> {
    const file = await spool.takeOldest()
    if (!file) return spool.filled()
    for (const batches of requestsOf(file.lines)) await sendUntilTaken(batches)
    if (!closing.signal.aborted) await file.remove()
  }

  async function run(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; ) {
      try {
        await forwardOldest()
        failures = 0
      } catch (error) {
        // For example too many open files. The events stay in the spool.
        if (failures === 0) log.error({ err: error }, 'the queue of events cannot be read or cleared')
        failures += 1
        await pause(failures)
      }
    }
  }

  const pause = (failures: number): Promise<void> =>
    wait(retryDelay(failures, retryMilliseconds), undefined, { signal: closing.signal }).catch(() => {})

  const running = run()
  return {
    get forwarded() {
      return forwarded
    },
    get dropped() {
      return dropped
    },
    async close() {
      closing.abort()
      await spool.close()
      await running
    },
  }
}

/** The size of one request to the upstream. */
function* requestsOf(lines: readonly string[]): Generator<readonly string[]> {
  let request: string[] = []
  let size = 0
  for (const line of lines) {
    if (request.length > 0 && (size + line.length > requestCharactersMax || request.length >= edgeBatchesMax)) {
      yield request
      request = []
      size = 0
    }
    request.push(line)
    size += line.length
  }
  if (request.length > 0) yield request
}
