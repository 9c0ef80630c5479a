import { Notifications } from '@mantine/notifications'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { createCall } from '../api/client.ts'
import { isProblem } from '../api/problem.ts'
import { createLive } from '../live/live.ts'
import { createDraftStore } from '../services/draft-store.ts'
import { pollUnstreamedQueries } from '../services/polling.ts'
import { clearRecent } from '../services/recent-items.ts'
import { ServicesContext } from '../services/services.ts'
import { meQuery } from '../services/session-queries.ts'
import { goToSignIn } from '../session/sign-in-path.ts'
import type { AppRoot } from './app-root.tsx'
import { createAppRouter } from './router.tsx'

const retriesMax = 2

/** The server's position in the stream of changes when it sent the page: everything is read after that. */
const positionOfPage = (): string | undefined =>
  document.querySelector<HTMLMetaElement>('meta[name="changes-position"]')?.content

/** Renders the app for a signed-in user, or an invitation. */
export async function startApp({ session, render }: AppRoot): Promise<void> {
  const drafts = createDraftStore(sessionStorage)
  const services = { session, call: createCall(session), live: createLive(session, positionOfPage()), drafts }
  const queries = new QueryClient({
    defaultOptions: {
      // Without a connection a change fails at once, with a message, instead of waiting silently.
      mutations: { networkMode: 'always' },
      queries: {
        staleTime: 5000,
        retry: (failures, error) =>
          failures < retriesMax && (!isProblem(error) || error.status === 0 || error.status >= 500),
      },
    },
  })
  pollUnstreamedQueries(queries)
  const router = createAppRouter({ ...services, queries })
  session.subscribe(() => {
    if (session.current()) return
    // After a sign-out, here or in another tab, nothing of the user stays.
    if (session.endedBecause() !== 'expired') {
      render(null)
      // Only now: a page stores its unsaved edit when it goes.
      setTimeout(() => {
        drafts.clear()
        clearRecent(localStorage)
        goToSignIn({ isReturning: false })
      })
    } else if (!queries.getQueryData(['me'])) goToSignIn({ isReturning: true })
    // Otherwise the session is continued over the page that is open.
  })
  const show = (content: ReactNode) =>
    render(
      <ServicesContext.Provider value={services}>
        <QueryClientProvider client={queries}>
          {/* Above the action bars at the bottom of pages. */}
          <Notifications position="bottom-left" autoClose={6000} limit={3} />
          {content}
        </QueryClientProvider>
      </ServicesContext.Provider>,
    )
  const me = session.current() && queries.ensureQueryData(meQuery(services.call)).catch(() => undefined)
  // The page's code and data are usually here already: it is rendered once, complete.
  await router.load()
  if ((await me)?.needs_second_factor) {
    const { RequiredFactorPage } = await import('../account/required-factor-page.tsx')
    return show(<RequiredFactorPage onDone={() => window.location.reload()} />)
  }
  show(<RouterProvider router={router} />)
}
