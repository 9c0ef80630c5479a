import type { Settings } from './settings.ts'
import { backoff, startTimer } from './timers.ts'

/** An event as `/batch/` takes it. */
export interface QueuedEvent {
  readonly event: string
  readonly distinct_id: string
  readonly properties: Readonly<Record<string, unknown>>
}

export interface EventQueue {
  /** Never blocks and never throws. Beyond the limit events are dropped. */
  add(event: QueuedEvent): void
  /** Sends what is queued, as far as the server accepts it within the time limit of a request. */
  flush(): Promise<void>
  close(): Promise<void>
  readonly size: number
  /** Events that were lost because the queue was full or the server rejected them. */
  readonly dropped: number
}

const queuedMax = 10_000
const batchMax = 500
const flushAt = 100
const flushMilliseconds = 5_000

/** Sends events in batches, in the background. Without a project token, which the first response carries, they wait. */
export function createEventQueue(settings: Settings, projectToken: () => string | undefined): EventQueue {
  let queue: (QueuedEvent & { readonly uuid: string; readonly timestamp: string })[] = []
  let dropped = 0
  let failures = 0
  let cancelTimer: (() => void) | undefined
  let sending: Promise<void> | undefined
  let isClosed = false

  const arm = (milliseconds: number) => {
    if (isClosed) return
    cancelTimer ??= startTimer(() => {
      cancelTimer = undefined
      void flush()
    }, milliseconds)
  }

  /** Returns whether the batch is done with: accepted, or rejected for good. */
  async function send(batch: typeof queue): Promise<boolean> {
    const api_key = projectToken()
    if (api_key === undefined) return false
    const abort = new AbortController()
    const cancel = startTimer(() => abort.abort(), settings.requestTimeoutMilliseconds)
    try {
      const response = await settings.fetch(`${settings.url}/batch/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ api_key, batch, sent_at: new Date().toISOString() }),
        signal: abort.signal,
      })
      await response.text().catch(() => '')
      if (response.status < 300) return true
      settings.report(new Error(`POST /batch/ returned ${response.status}.`))
      const isFinal = response.status >= 400 && response.status < 500 && ![401, 408, 429].includes(response.status)
      if (isFinal) dropped += batch.length
      return isFinal
    } catch (error) {
      settings.report(error)
      return false
    } finally {
      cancel()
    }
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, batchMax)
      if (!(await send(batch))) {
        failures += 1
        return arm(Math.max(flushMilliseconds, backoff(failures)))
      }
      failures = 0
      const sent = new Set(batch)
      queue = queue.filter(event => !sent.has(event))
    }
  }

  function flush(): Promise<void> {
    sending ??= drain().finally(() => {
      sending = undefined
    })
    return sending
  }

  return {
    add(event) {
      if (isClosed) return
      if (queue.length >= queuedMax) {
        dropped += 1
        return
      }
      try {
        queue.push({ ...event, uuid: crypto.randomUUID(), timestamp: new Date().toISOString() })
        if (queue.length >= flushAt && failures === 0 && sending === undefined) void flush()
        else arm(flushMilliseconds)
      } catch (error) {
        // Edge runtimes have neither random numbers nor timers outside of a request.
        dropped += 1
        settings.report(error)
      }
    },
    flush,
    async close() {
      await flush()
      if (queue.length > 0) await flush()
      isClosed = true
      cancelTimer?.()
    },
    get size() {
      return queue.length
    },
    get dropped() {
      return dropped
    },
  }
}
