import { useParams } from '@tanstack/react-router'
import { useMessages } from '../i18n/language.tsx'
import { isAdmin } from '../services/permissions.ts'
import { useMembershipLevel } from '../services/session-queries.ts'
import { Page } from '../ui/layout/page.tsx'
import { RequireFactor } from './require-factor.tsx'

/** How members sign in. */
export function OrganizationSignInPage() {
  const t = useMessages()
  const { organizationId } = useParams({ from: '/shell/organization/$organizationId/settings/sign-in' })
  const canManage = isAdmin(useMembershipLevel(organizationId))
  return (
    <Page title={t.organization.signIn} intro={canManage ? t.organization.signInIntro : t.organization.adminsOnly}>
      {canManage && <RequireFactor organizationId={organizationId} />}
    </Page>
  )
}
