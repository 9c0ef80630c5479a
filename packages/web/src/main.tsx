import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './app/app.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { createRoot } from 'react-dom/client'
import { createCall } from './api/client.ts'
import { isProblem } from './api/problem.ts'
import { createSession } from './api/session.ts'
import { shareSession } from './api/share-session.ts'
import { fixNavigatorLanguage } from './app/fix-navigator-language.ts'
import { createAppRouter } from './app/router.tsx'
import { theme, variables } from './app/theme.ts'
import { LanguageProvider, loadMessages, preferredLanguage } from './i18n/language.tsx'
import { createLive } from './live/live.ts'
import { pollUnstreamedQueries } from './services/polling.ts'
import { ServicesContext } from './services/services.ts'

const retriesMax = 2

async function start(): Promise<void> {
  fixNavigatorLanguage()
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? ''
  setNonce(nonce)
  const session = createSession(sessionStorage)
  const isShared = shareSession(session, new BroadcastChannel('halyard.session'))
  const services = { session, call: createCall(session), live: createLive(session) }
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5000,
        retry: (failures, error) =>
          failures < retriesMax && (!isProblem(error) || error.status === 0 || error.status >= 500),
      },
    },
  })
  pollUnstreamedQueries(queries)
  const router = createAppRouter({ ...services, queries })
  // When the key expires, the router redirects to the sign-in page, which leads back.
  session.subscribe(() => {
    if (session.endedBecause() === 'expired') router.invalidate()
  })
  const language = preferredLanguage()
  const [messages] = await Promise.all([loadMessages(language), isShared])
  const initial = { language, messages }

  createRoot(document.getElementById('root') as HTMLElement).render(
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <LanguageProvider initial={initial}>
        <ServicesContext.Provider value={services}>
          <QueryClientProvider client={queries}>
            <Notifications position="bottom-right" autoClose={6000} limit={3} />
            <RouterProvider router={router} />
          </QueryClientProvider>
        </ServicesContext.Provider>
      </LanguageProvider>
    </MantineProvider>,
  )
}

start()
