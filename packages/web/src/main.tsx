import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './app/app.css'
import './app/fonts.css'
import { setNonce } from 'get-nonce'
import { resumeSession } from './api/resume-session.ts'
import { createSession } from './api/session.ts'
import { shareSession } from './api/share-session.ts'
import { createAppRoot } from './app/app-root.tsx'
import { fixNavigatorLanguage } from './app/fix-navigator-language.ts'
import { loadMessages, preferredLanguage } from './i18n/language.tsx'
import { showSignIn } from './session/show-sign-in.tsx'

/** The sign-in page needs little code and is part of the first file; the app is loaded for those who are signed in. */
async function start(): Promise<void> {
  fixNavigatorLanguage()
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? ''
  setNonce(nonce)
  const session = createSession(sessionStorage)
  const isShared = shareSession(session, new BroadcastChannel('halyard.session'))
  const language = preferredLanguage()
  const [messages] = await Promise.all([loadMessages(language), isShared])
  if (!session.current()) await resumeSession(session)
  const root = createAppRoot(session, { language, messages }, nonce)
  const openApp = async () => (await import('./app/start-app.tsx')).startApp(root)
  if (session.current() || window.location.pathname.startsWith('/signup/')) return openApp()
  showSignIn(root, openApp)
}

start()
