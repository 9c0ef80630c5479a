import { routes, type ServiceKey } from '@halyard/contract'
import { Button, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { KeyName, ScopeBadges, useProjectNames } from '../../keys/access-fields.tsx'
import { isAdmin } from '../../services/permissions.ts'
import { useCall } from '../../services/services.ts'
import { useMembershipLevel, useOrganizations } from '../../services/session-queries.ts'
import { useApiQuery } from '../../services/use-api-query.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { OneTimeSecret } from '../../ui/data/one-time-secret.tsx'
import { ConfirmButton } from '../../ui/dialog/confirm-button.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { KeyIcon } from '../../ui/icons.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { useLevelName } from '../level-name.ts'

const ServiceKeyDialog = lazyComponent(async () => (await import('./service-key-dialog.tsx')).ServiceKeyDialog)

/** Keys that belong to the organization. */
export function ServiceKeysPage() {
  const t = useMessages()
  const { organizationId } = useParams({ from: '/shell/organization/$organizationId/settings/service-keys' })
  const organizations = useOrganizations()
  const canManage = isAdmin(useMembershipLevel(organizationId))
  const [isCreating, setIsCreating] = useState(false)
  const [created, setCreated] = useState<{ label: string; value: string }>()
  return (
    <Page
      title={t.serviceKeys.title}
      intro={t.serviceKeys.intro}
      wide
      actions={canManage && <Button onClick={() => setIsCreating(true)}>{t.account.create}</Button>}
    >
      <Stack>
        {created && <OneTimeSecret value={created.value} label={created.label} />}
        {canManage ? (
          <ServiceKeys organizationId={organizationId} />
        ) : (
          <Loaded query={organizations}>{() => <Text>{t.keys.adminsOnly}</Text>}</Loaded>
        )}
      </Stack>
      <Suspense fallback={null}>
        {isCreating && (
          <ServiceKeyDialog
            organizationId={organizationId}
            onCreated={setCreated}
            onClose={() => setIsCreating(false)}
          />
        )}
      </Suspense>
    </Page>
  )
}

function ServiceKeys({ organizationId }: { organizationId: string }) {
  const t = useMessages()
  const { day } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const levelName = useLevelName()
  const projectNames = useProjectNames()
  const params = { parent_lookup_organization_id: organizationId }
  const keys = useApiQuery(['service-keys', organizationId], routes.serviceKeys.list, { params })
  const revoke = async ({ id }: ServiceKey) => {
    await call(routes.serviceKeys.remove, { params: { ...params, key_id: id } })
    await queries.invalidateQueries({ queryKey: ['service-keys', organizationId] })
  }
  return (
    <Loaded query={keys}>
      {all =>
        all.length === 0 ? (
          <EmptyState Icon={KeyIcon} title={t.serviceKeys.none} text={t.serviceKeys.noneText} />
        ) : (
          <DataTable
            label={t.serviceKeys.title}
            head={[
              t.account.label,
              t.members.level,
              t.account.scopes,
              t.keys.projects,
              t.account.lastUsed,
              t.account.expires,
              t.keys.createdBy,
              '',
            ]}
            rows={all.map(key => ({
              key: key.id,
              cells: [
                <KeyName key="label" label={key.label} mask={key.mask_value} />,
                levelName(key.level),
                <ScopeBadges key="scopes" scopes={key.scopes} />,
                projectNames(key.scoped_teams),
                key.last_used_at ? day(key.last_used_at) : t.common.never,
                key.expires_at ? day(key.expires_at) : t.common.never,
                key.created_by.first_name || key.created_by.email,
                <ConfirmButton
                  key="revoke"
                  label={t.account.revoke}
                  of={key.label}
                  question={t.account.revokeQuestion(key.label)}
                  detail={t.account.revokeDetail}
                  done={t.account.revoked(key.label)}
                  onConfirm={() => revoke(key)}
                />,
              ],
            }))}
          />
        )
      }
    </Loaded>
  )
}
