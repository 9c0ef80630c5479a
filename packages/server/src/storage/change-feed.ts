import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { ChangeFeed, ChangeListener, ChangeLog } from '../changes.ts'

const batchMax = 500

/**
 * Reads the change log from this node's own position and hands it to the listeners. However it is woken (a commit in this
 * process, a notification, a timer), it reads the same log, so a lost wake-up is only a delay. Sequences have no gaps: one that is found
 * means that this node slept while the log was trimmed, and that its listeners must start anew.
 */
export function createChangeFeed(
  log: Pick<ChangeLog, 'listAfter'>,
  start: number,
  onListenerError: (error: unknown) => void,
): ChangeFeed {
  const listeners = new Map<ChangeListener, () => void | Promise<void>>()
  let position = start
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

  async function deliver(): Promise<void> {
    for (;;) {
      const changes = await log.listAfter(position, batchMax)
      const last = changes.at(-1)
      if (!last) return
      const isMissing = changes[0]?.sequence !== position + 1
      for (const [listener, startAnew] of listeners) {
        if (isMissing) await reporting(startAnew)
        await reporting(() => listener(changes))
      }
      position = last.sequence
      if (changes.length < batchMax) return
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
