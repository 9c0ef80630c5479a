import { setImmediate as nextRound } from 'node:timers/promises'
import { Problem } from '../../../problem.ts'

/** Some work to be made durable together with that of others. */
export interface QueuedBatch {
  readonly size: number
}

export interface IngestQueue<B extends QueuedBatch> {
  /**
   * Resolves when the batch is durable. Raises what writing raised (nothing of it is stored then), or `unavailable` when too much is
   * waiting already.
   */
  submit(batch: B): Promise<void>
  /** How much is waiting or being written. */
  readonly waiting: number
  /** Resolves when nothing is waiting any more. */
  drained(): Promise<void>
}

export interface IngestQueueOptions<B extends QueuedBatch> {
  /** Makes the batches durable: all of them or, when it throws, none. */
  readonly write: (batches: readonly B[]) => Promise<void>
  readonly waitingMax: number
  /** As much as this is written at once, or a single larger batch. */
  readonly writtenAtOnceMax: number
}

/**
 * SQLite works on this very thread: while it writes, requests pile up unread. Reading them all takes a few rounds of the event loop, and
 * only then can they share a transaction.
 */
const roundsBeforeWriting = 3

async function letOthersIn(): Promise<void> {
  for (let round = 0; round < roundsBeforeWriting; round++) await nextRound()
}

interface Waiting<B> {
  readonly batch: B
  resolve(): void
  reject(error: unknown): void
}

/**
 * Group commit: whatever arrives while one transaction is under way shares the next. Under load that makes few large transactions of many
 * small requests, without load nobody waits, and an acknowledged event is always durable.
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
      // Something in the group cannot be written. It must not take the others with it.
      for (const one of group) await writeGroup([one])
    }
  }

  async function work(): Promise<void> {
    while (queue.length > 0) {
      await letOthersIn()
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
          new Problem('unavailable', 'More events are waiting than can be stored now; nothing of this was kept.', {
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
