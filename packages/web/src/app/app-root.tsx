import { MantineProvider } from '@mantine/core'
import type { ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import type { Session } from '../api/session.ts'
import type { Language } from '../i18n/choose-language.ts'
import type { Messages } from '../i18n/en.ts'
import { LanguageProvider } from '../i18n/language.tsx'
import { theme, variables } from './theme.ts'

/** What the sign-in page and the app share. */
export interface AppRoot {
  readonly session: Session
  render(content: ReactNode): void
}

export function createAppRoot(
  session: Session,
  initial: { readonly language: Language; readonly messages: Messages },
  nonce: string,
): AppRoot {
  const root = createRoot(document.getElementById('root') as HTMLElement)
  return {
    session,
    render: content =>
      root.render(
        <MantineProvider
          theme={theme}
          cssVariablesResolver={variables}
          defaultColorScheme="auto"
          getStyleNonce={() => nonce}
        >
          <LanguageProvider initial={initial}>{content}</LanguageProvider>
        </MantineProvider>,
      ),
  }
}
