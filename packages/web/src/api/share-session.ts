import type { Credentials, EndReason, Session } from './session.ts'

type TabMessage =
  | { readonly kind: 'request' }
  | { readonly kind: 'credentials'; readonly credentials: Credentials }
  | { readonly kind: 'ended'; readonly key: string; readonly reason: EndReason }

/** Short enough not to be noticed. A later reply is still accepted. */
const waitMilliseconds = 150

/**
 * A new tab requests the session from the other tabs of this browser. Nothing is stored elsewhere, so the session still
 * ends with the last tab.
 */
export function shareSession(session: Session, channel: BroadcastChannel): Promise<void> {
  const send = (message: TabMessage) => channel.postMessage(message)
  let onReply = () => {}
  let last = session.current()
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    const own = session.current()
    if (data.kind === 'request' && own) send({ kind: 'credentials', credentials: own })
    if (data.kind === 'credentials' && !own) {
      session.begin(data.credentials)
      onReply()
    }
    if (data.kind === 'ended') session.end(data.reason, data.key)
  }
  session.subscribe(() => {
    const current = session.current()
    if (last && !current) send({ kind: 'ended', key: last.key, reason: session.endedBecause() ?? 'expired' })
    if (!last && current) send({ kind: 'credentials', credentials: current })
    last = current
  })
  if (session.current()) return Promise.resolve()
  return new Promise(resolve => {
    onReply = resolve
    send({ kind: 'request' })
    setTimeout(resolve, waitMilliseconds)
  })
}
