import { Link } from '@tanstack/react-router'
import { useMessages } from '../../i18n/language.tsx'
import { Page } from '../layout/page.tsx'

/** Where an address leads nowhere, or to something that is gone or belongs to others. */
export function NotFound() {
  const t = useMessages()
  return (
    <Page title={t.common.notFound} intro={t.common.notFoundText}>
      <Link to="/">{t.common.backToFlags}</Link>
    </Page>
  )
}
