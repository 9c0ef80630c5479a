import type { ReactNode } from 'react'
import { createCall } from '../api/client.ts'
import type { Session } from '../api/session.ts'
import { SignInPage } from './sign-in-page.tsx'
import { signInPath } from './sign-in-path.ts'

interface Host {
  readonly session: Session
  render(content: ReactNode): void
}

/** Asks for email and password, then opens the page that was requested. A sign-in in another tab counts as well. */
export function showSignIn(host: Host, openApp: () => unknown, problem?: unknown): void {
  const { session } = host
  const { pathname, search, hash } = window.location
  if (pathname !== signInPath) {
    const requested = pathname === '/' ? '' : `?next=${encodeURIComponent(pathname + search + hash)}`
    window.history.replaceState(null, '', signInPath + requested)
  }
  const stop = session.subscribe(() => {
    if (!session.current()) return
    stop()
    window.history.replaceState(null, '', localPath(new URLSearchParams(window.location.search).get('next')))
    openApp()
  })
  host.render(<SignInPage call={createCall(session)} session={session} problem={problem} />)
}

/** Only a local path is followed; anything else would be an open redirect. */
function localPath(next: string | null): string {
  const { origin } = window.location
  // Parsed as the browser would: it drops tabs and line breaks, and reads a backslash as a slash.
  const url = next !== null && URL.canParse(next, origin) ? new URL(next, origin) : undefined
  // A path such as `/..//host` is normalized to one that starts with two slashes, which would name a host again.
  const isLocal = url?.origin === origin && !url.pathname.startsWith('//')
  return isLocal ? url.pathname + url.search + url.hash : '/'
}
