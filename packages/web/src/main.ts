import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './app/app.css'
import './app/fonts.css'
import { requestEarly } from './api/early-requests.ts'
import { createSession } from './api/session.ts'

/**
 * The first file is small, so that it runs while the others are loading: a signed-in user's data and code are requested
 * at once, side by side.
 */
const session = createSession(sessionStorage)
const early = requestEarly(session.current()?.key, window.location)
if (session.current()) {
  import('./app/start-app.tsx')
  if (early.isFlag) import('./flags/detail/flag-page.tsx')
}
import('./app/start.tsx').then(({ start }) => start(session, early))
// The browser reads its tables of languages with the first number and the first date: now, while it waits for the network.
new Intl.NumberFormat('en').format(0)
new Intl.DateTimeFormat('en', { dateStyle: 'medium' }).format(0)
