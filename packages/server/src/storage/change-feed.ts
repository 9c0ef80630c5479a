import type { ChangeFeed, ChangeListener, ChangeLog } from '../changes.ts'

const batchMax = 500

/**
 * Reads the change log from this node's own position and hands it to the listeners. However it is woken (a commit in this
 * process, a notification, a timer), it reads the same log, so a lost wake-up is only a delay.
 */
export function createChangeFeed(
  log: Pick<ChangeLog, 'listAfter'>,
  start: number,
  onListenerError: (error: unknown) => void,
): ChangeFeed {
  const listeners = new Set<ChangeListener>()
  let position = start
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  async function deliver(): Promise<void> {
    for (;;) {
      const changes = await log.listAfter(position, batchMax)
      const last = changes.at(-1)
      if (!last) return
      for (const listener of listeners) {
        try {
          await listener(changes)
        } catch (error) {
          onListenerError(error)
        }
      }
      position = last.sequence
      if (changes.length < batchMax) return
    }
  }

  return {
    subscribe(listener) {
      listeners.add(listener)
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
