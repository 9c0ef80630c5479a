import { setImmediate as nextTick } from 'node:timers/promises'
import { Problem } from '../../../problem.ts'

/** Events that one transaction stores, possibly together with other batches. */
export interface QueuedBatch {
  readonly size: number
}

export interface IngestQueue<B extends QueuedBatch> {
  /**
   * Resolves when the batch is durable. Rejects with the write's error (then nothing of the batch is stored), or with `unavailable` when
   * the queue is full.
   */
  submit(batch: B): Promise<void>
  /** Number of events queued or being written. */
  readonly waiting: number
  /** Resolves when the queue is empty. */
  drained(): Promise<void>
}

export interface IngestQueueOptions<B extends QueuedBatch> {
  /** Makes the batches durable: all of them or, when it throws, none. */
  readonly write: (batches: readonly B[]) => Promise<void>
  readonly waitingMax: number
  /** Maximum number of events per write; a single larger batch is still written. */
  readonly writtenAtOnceMax: number
}

/**
 * SQLite runs on this thread: while it writes, requests accumulate unread. Reading them takes a few event-loop ticks, and only then can
 * they share a transaction.
 */
const ticksBeforeWriting = 3

async function yieldToEventLoop(): Promise<void> {
  for (let tick = 0; tick < ticksBeforeWriting; tick++) await nextTick()
}

interface Waiting<B> {
  readonly batch: B
  resolve(): void
  reject(error: unknown): void
}

/**
 * Group commit: batches that arrive during one transaction share the next. Under load, many small requests become few large transactions;
 * without load, requests do not wait. An acknowledged event is always durable.
 */
export function createIngestQueue<B extends QueuedBatch>(options: IngestQueueOptions<B>): IngestQueue<B> {
  const { write, waitingMax, writtenAtOnceMax } = options
  const queue: Waiting<B>[] = []
  let waiting = 0
  let working: Promise<void> | undefined

  function takeGroup(): Waiting<B>[] {
    const group: Waiting<B>[] = []
    for (let size = 0; queue[0] && (group.length === 0 || size + queue[0].batch.size <= writtenAtOnceMax); ) {
      const next = queue.shift() as Waiting<B>
      size += next.batch.size
      group.push(next)
    }
    return group
  }

  async function writeGroup(group: readonly Waiting<B>[]): Promise<void> {
    try {
      await write(group.map(({ batch }) => batch))
      for (const one of group) one.resolve()
    } catch (error) {
      if (group.length === 1 || (error instanceof Problem && error.kind === 'unavailable')) {
        for (const one of group) one.reject(error)
        return
      }
      // One batch of the group cannot be written; write them one by one so that the others succeed.
      for (const one of group) await writeGroup([one])
    }
  }

  async function work(): Promise<void> {
    while (queue.length > 0) {
      await yieldToEventLoop()
      const group = takeGroup()
      await writeGroup(group)
      for (const { batch } of group) waiting -= batch.size
    }
    working = undefined
  }

  return {
    submit(batch) {
      if (waiting > 0 && waiting + batch.size > waitingMax) {
        return Promise.reject(
          new Problem('unavailable', 'The event queue is full; nothing of this request was stored. Retry later.', {
            retryAfterSeconds: 1,
          }),
        )
      }
      waiting += batch.size
      const done = new Promise<void>((resolve, reject) => {
        queue.push({ batch, resolve, reject })
      })
      working ??= work()
      return done
    },
    get waiting() {
      return waiting
    },
    async drained() {
      while (working) await working
    },
  }
}
