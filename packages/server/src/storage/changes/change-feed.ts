import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { Change, ChangeFeed, ChangeListener, ChangeLog } from './changes.ts'

const batchMax = 500

/**
 * Reads the change log from this node's own position and hands it to the listeners. However it is woken (a commit in this
 * process, a notification, a timer), it reads the same log, so a lost wake-up is only a delay. Sequences have no gaps: one that is found
 * means that this node slept while the log was trimmed, and that its listeners must start anew. So does a log in which the change that was
 * read last is another one or none: the database went back in time, as when a copy takes over that had not heard of everything. Its numbers
 * are then given again, to other changes.
 */
export function createChangeFeed(
  log: Pick<ChangeLog, 'listAfter' | 'head'>,
  start: FeedStart,
  onListenerError: (error: unknown) => void,
): ChangeFeed {
  const listeners = new Map<ChangeListener, () => void | Promise<void>>()
  let { position, last } = start
  let reading: Promise<void> = Promise.resolve()
  /** A reading that has not begun, so that it will see whatever is committed by now. */
  let next: Promise<void> | undefined

  async function reporting(work: () => void | Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      onListenerError(error)
    }
  }

  async function tell(changes: readonly Change[], isMissing: boolean): Promise<void> {
    for (const [listener, startAnew] of listeners) {
      if (isMissing) await reporting(startAnew)
      if (changes.length > 0) await reporting(() => listener(changes))
    }
  }

  async function deliver(): Promise<void> {
    for (;;) {
      const found = await log.listAfter(last ? position - 1 : position, batchMax)
      const isKnown = last !== undefined && isSame(found[0], last)
      const changes = isKnown ? found.slice(1) : found
      const isMissing = last ? !isKnown : found.length > 0 && found[0]?.sequence !== position + 1
      // Before they are told: what is committed while they start anew is told afterwards.
      const next = isMissing && found.length === 0 ? await endOf(log) : { position, last, ...endingWith(changes) }
      if (isMissing || changes.length > 0) await tell(changes, isMissing)
      ;({ position, last } = next)
      if (found.length < batchMax) return
    }
  }

  async function readNext(): Promise<void> {
    await endOfTurn()
    await reading.catch(() => {})
    next = undefined
    reading = deliver()
    return reading
  }

  return {
    subscribe(listener, startAnew) {
      listeners.set(listener, startAnew)
      return () => listeners.delete(listener)
    },
    // Somebody asks at every request and after every commit. All who ask before a reading has begun share it, so that there is at
    // most one in a turn of the event loop.
    catchUp() {
      next ??= readNext()
      return next
    },
  }
}

/** Where a node begins to read. */
export interface FeedStart {
  readonly position: number
  /** The change at this position, if the log has it. */
  readonly last: Change | undefined
}

/** The end of the log as it is now. */
export async function endOf(log: Pick<ChangeLog, 'listAfter' | 'head'>): Promise<FeedStart> {
  const position = await log.head()
  const [found] = await log.listAfter(position - 1, 1)
  return { position, last: found?.sequence === position ? found : undefined }
}

function endingWith(changes: readonly Change[]): FeedStart | undefined {
  const last = changes.at(-1)
  return last && { position: last.sequence, last }
}

const isSame = (found: Change | undefined, known: Change): boolean =>
  found?.sequence === known.sequence &&
  found.at === known.at &&
  found.topic === known.topic &&
  found.entityId === known.entityId
