import { createStreams } from './stream-per-key.ts'
import type { Subscription } from './subscribe-to-changes.ts'

/** Shared by all tabs: over HTTP/1.1 a browser opens only six connections per host, and every stream occupies one. */
const listen = createStreams()
const scope = globalThis as unknown as { onconnect: (event: MessageEvent) => void }

scope.onconnect = ({ ports: [port] }) => {
  if (!port) return
  let stop = () => {}
  port.onmessage = ({ data }: MessageEvent<Subscription | null>) => {
    stop()
    stop = data === null ? () => {} : listen(data.key, data.after, message => port.postMessage(message))
  }
}
