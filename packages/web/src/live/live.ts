import type { Session } from '../api/session.ts'
import type { ChangeMessage } from './change-stream.ts'
import { subscribeToChanges } from './subscribe-to-changes.ts'

type Listener = (message: ChangeMessage) => void

/** Change notifications for as long as the user is signed in. */
export interface Live {
  /** Returns the unsubscribe function. */
  subscribe(listener: Listener): () => void
}

/**
 * Connects with the first listener: a connection takes time that the first render needs. It delivers all changes after
 * `position`, which is older than anything read.
 */
export function createLive(session: Session, position: string | undefined): Live {
  const listeners = new Set<Listener>()
  const emit = (message: ChangeMessage) => {
    for (const listener of listeners) listener(message)
  }
  let key: string | undefined
  let after = position
  let stop = () => {}
  const follow = () => {
    const current = listeners.size > 0 ? session.current()?.key : undefined
    if (current === key) return
    stop()
    key = current
    stop = current === undefined ? () => {} : subscribeToChanges(current, after, emit)
    if (current !== undefined) after = undefined
  }
  session.subscribe(follow)
  return {
    subscribe(listener) {
      listeners.add(listener)
      follow()
      return () => {
        listeners.delete(listener)
        follow()
      }
    },
  }
}
