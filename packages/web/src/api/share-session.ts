import type { Credentials, Session } from './session.ts'

type Said = { readonly asks: true } | { readonly has: Credentials } | { readonly ended: string }

/** Short enough not to be noticed. A later reply is still accepted. */
const waitMilliseconds = 150

/**
 * A new tab asks the other tabs of this browser for the session. Nothing is stored elsewhere, so the session still
 * ends with the last tab.
 */
export function shareSession(session: Session, channel: BroadcastChannel): Promise<void> {
  const say = (said: Said) => channel.postMessage(said)
  let isHeard = () => {}
  let known = session.current()
  channel.onmessage = ({ data }: MessageEvent<Said>) => {
    const own = session.current()
    if ('asks' in data && own) say({ has: own })
    if ('has' in data && !own) {
      session.begin(data.has)
      isHeard()
    }
    if ('ended' in data) session.end('expired', data.ended)
  }
  session.subscribe(() => {
    const now = session.current()
    if (known && !now) say({ ended: known.key })
    if (!known && now) say({ has: now })
    known = now
  })
  if (session.current()) return Promise.resolve()
  return new Promise(resolve => {
    isHeard = resolve
    say({ asks: true })
    setTimeout(resolve, waitMilliseconds)
  })
}
