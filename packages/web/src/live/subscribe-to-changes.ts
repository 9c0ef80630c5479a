import type { ChangeMessage } from './change-stream.ts'
import { createStreams } from './stream-per-key.ts'

type Listener = (message: ChangeMessage) => void

/** What a tab sends to the shared worker. */
export interface Subscription {
  readonly key: string
  readonly after: string | undefined
}

/**
 * Subscribes with an API key to the changes after a position, through a shared worker where the browser has one. Returns
 * the unsubscribe function.
 */
export function subscribeToChanges(key: string, after: string | undefined, listener: Listener): () => void {
  return typeof SharedWorker === 'undefined'
    ? createStreams()(key, after, listener)
    : listenTogether({ key, after }, listener)
}

function listenTogether(first: Subscription, listener: Listener): () => void {
  const worker = new SharedWorker(new URL('./change-worker.ts', import.meta.url), { type: 'module' })
  const { port } = worker
  let stopAlone = () => {}
  // Its script could not be loaded: this tab gets a stream of its own.
  worker.onerror = () => {
    stopAlone()
    stopAlone = createStreams()(first.key, first.after, listener)
  }
  const follow = (subscription: Subscription) => port.postMessage(subscription)
  const leave = () => port.postMessage(null)
  port.onmessage = ({ data }: MessageEvent<ChangeMessage>) => listener(data)
  follow(first)
  // A closing tab unsubscribes on pagehide; a tab restored from the back/forward cache subscribes again.
  const onShow = ({ persisted }: PageTransitionEvent) => persisted && follow({ key: first.key, after: undefined })
  window.addEventListener('pagehide', leave)
  window.addEventListener('pageshow', onShow)
  return () => {
    window.removeEventListener('pagehide', leave)
    window.removeEventListener('pageshow', onShow)
    leave()
    port.close()
    stopAlone()
  }
}
