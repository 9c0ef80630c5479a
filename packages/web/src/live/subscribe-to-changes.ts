import type { ChangeMessage } from './change-stream.ts'
import { createStreams } from './stream-per-key.ts'

type Listener = (message: ChangeMessage) => void

/**
 * Subscribes with an API key, through a shared worker where the browser has one. Returns the unsubscribe function.
 */
export function subscribeToChanges(key: string, listener: Listener): () => void {
  return typeof SharedWorker === 'undefined' ? createStreams()(key, listener) : listenTogether(key, listener)
}

function listenTogether(key: string, listener: Listener): () => void {
  const { port } = new SharedWorker(new URL('./change-worker.ts', import.meta.url), { type: 'module' })
  const follow = () => port.postMessage(key)
  const leave = () => port.postMessage(null)
  port.onmessage = ({ data }: MessageEvent<ChangeMessage>) => listener(data)
  follow()
  // A closing tab unsubscribes on pagehide; a tab restored from the back/forward cache subscribes again.
  const onShow = ({ persisted }: PageTransitionEvent) => persisted && follow()
  window.addEventListener('pagehide', leave)
  window.addEventListener('pageshow', onShow)
  return () => {
    window.removeEventListener('pagehide', leave)
    window.removeEventListener('pageshow', onShow)
    leave()
    port.close()
  }
}
