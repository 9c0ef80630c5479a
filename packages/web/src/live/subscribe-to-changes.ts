import type { Word } from './change-stream.ts'
import { createStreams } from './shared-streams.ts'

type Listener = (word: Word) => void

/** Listens with a key, together with the other tabs where the browser can. Returns how to stop. */
export function subscribeToChanges(key: string, listener: Listener): () => void {
  return typeof SharedWorker === 'undefined' ? createStreams()(key, listener) : listenTogether(key, listener)
}

function listenTogether(key: string, listener: Listener): () => void {
  const { port } = new SharedWorker(new URL('./change-worker.ts', import.meta.url), { type: 'module' })
  const follow = () => port.postMessage(key)
  const leave = () => port.postMessage(null)
  port.onmessage = ({ data }: MessageEvent<Word>) => listener(data)
  follow()
  // A tab that is closed cannot say so later; one that is brought back from the history goes on.
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
