import { setNonce } from 'get-nonce'
import { createCall } from '../api/client.ts'
import { markStayingSignedIn, resumeSession } from '../api/resume-session.ts'
import type { Session } from '../api/session.ts'
import { shareSession } from '../api/share-session.ts'
import { loadMessages, preferredLanguage } from '../i18n/language.tsx'
import { finishSingleSignOn } from '../session/finish-single-sign-on.ts'
import { ResetPasswordPage, resetPath } from '../session/reset-password-page.tsx'
import { showSignIn } from '../session/show-sign-in.tsx'
import { createAppRoot } from './app-root.tsx'
import { fixNavigatorLanguage } from './fix-navigator-language.ts'

/** The sign-in page needs little code; the app is loaded for those who are signed in. */
export async function start(session: Session): Promise<void> {
  fixNavigatorLanguage()
  // Loaded beside the messages.
  if (session.current()) loadApp()
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? ''
  setNonce(nonce)
  const isShared = shareSession(session, new BroadcastChannel('halyard.session'))
  const language = preferredLanguage()
  const [messages] = await Promise.all([loadMessages(language), isShared])
  const problem = await finishSingleSignOn(session)
  // The set-up page, which has no scripts, has just signed the first owner in.
  if (window.location.hash === '#signed-in') {
    markStayingSignedIn(true)
    window.history.replaceState(null, '', window.location.pathname)
  }
  if (!session.current()) await resumeSession(session)
  const root = createAppRoot(session, { language, messages }, nonce)
  const openApp = async () => (await loadApp()).startApp(root)
  if (window.location.pathname === resetPath) return root.render(<ResetPasswordPage call={createCall(session)} />)
  if (session.current() || window.location.pathname.startsWith('/signup/')) return openApp()
  showSignIn(root, openApp, problem)
}

const loadApp = () => import('./start-app.tsx')
