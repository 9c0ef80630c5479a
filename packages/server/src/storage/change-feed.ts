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
  let running: Promise<void> | undefined
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

  return {
    subscribe(listener, startAnew) {
      listeners.set(listener, startAnew)
      return () => listeners.delete(listener)
    },
    // A caller that arrives while a read is under way cannot know whether that read saw its commit; it gets the next one,
    // and so does everybody else who arrives meanwhile.
    catchUp() {
      if (!running) {
        running = deliver().finally(() => {
          running = undefined
        })
        return running
      }
      next ??= running
        .catch(() => {})
        .then(() => {
          next = undefined
          running ??= deliver().finally(() => {
            running = undefined
          })
          return running
        })
      return next
    },
  }
}
