import type { Session } from '../api/session.ts'
import type { ChangeMessage } from './change-stream.ts'
import { subscribeToChanges } from './subscribe-to-changes.ts'

type Listener = (message: ChangeMessage) => void

/** Change notifications for as long as the user is signed in. */
export interface Live {
  /** Returns the unsubscribe function. */
  subscribe(listener: Listener): () => void
}

/** Connects immediately, so that no change is missed after the first read. */
export function createLive(session: Session): Live {
  const listeners = new Set<Listener>()
  let key: string | undefined
  let stop = () => {}
  const follow = () => {
    const current = session.current()?.key
    if (current === key) return
    stop()
    key = current
    stop =
      current === undefined
        ? () => {}
        : subscribeToChanges(current, message => {
            for (const listener of listeners) listener(message)
          })
  }
  session.subscribe(follow)
  follow()
  return {
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
