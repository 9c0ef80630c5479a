import { Link } from '@tanstack/react-router'
import { useMessages } from '../../i18n/language.tsx'
import { Page } from '../layout/page.tsx'

/** For an unknown URL, a deleted object, or one in a project the user cannot access. */
export function NotFound() {
  const t = useMessages()
  return (
    <Page title={t.common.notFound} intro={t.common.notFoundText}>
      <Link to="/">{t.common.backToHome}</Link>
    </Page>
  )
}
