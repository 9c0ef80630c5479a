import { createStreams } from './shared-streams.ts'

/** Shared by all tabs: a browser has only six connections to a server that speaks HTTP/1.1, and every stream takes one. */
const listen = createStreams()
const scope = globalThis as unknown as { onconnect: (event: MessageEvent) => void }

scope.onconnect = ({ ports: [port] }) => {
  if (!port) return
  let stop = () => {}
  port.onmessage = ({ data: key }: MessageEvent<string | null>) => {
    stop()
    stop = key === null ? () => {} : listen(key, word => port.postMessage(word))
  }
}
