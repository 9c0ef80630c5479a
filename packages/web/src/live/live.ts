import type { Session } from '../api/session.ts'
import type { ChangeMessage } from './change-stream.ts'
import { subscribeToChanges } from './subscribe-to-changes.ts'

type Listener = (message: ChangeMessage) => void

/** Change notifications for as long as the user is signed in. */
export interface Live {
  /** The first subscriber also receives what came before. Returns the unsubscribe function. */
  subscribe(listener: Listener): () => void
}

/** While no one listens; beyond, everything is read again. */
const waitingMax = 500

/** Connects immediately. The first connection delivers all changes after `position`, which is older than anything read. */
export function createLive(session: Session, position: string | undefined): Live {
  const listeners = new Set<Listener>()
  let waiting: ChangeMessage[] = []
  const emit = (message: ChangeMessage) => {
    if (listeners.size === 0) waiting = waiting.length < waitingMax ? [...waiting, message] : [{ kind: 'open' }]
    for (const listener of listeners) listener(message)
  }
  let key: string | undefined
  let after = position
  let stop = () => {}
  const follow = () => {
    const current = session.current()?.key
    if (current === key) return
    stop()
    key = current
    stop = current === undefined ? () => {} : subscribeToChanges(current, after, emit)
    if (current !== undefined) after = undefined
  }
  session.subscribe(follow)
  follow()
  return {
    subscribe(listener) {
      listeners.add(listener)
      for (const message of waiting.splice(0)) listener(message)
      return () => listeners.delete(listener)
    },
  }
}
