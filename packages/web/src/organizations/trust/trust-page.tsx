import { routes, type TrustRelationship } from '@halyard/contract'
import { Button, Code, Group, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { ScopeBadges, useProjectNames } from '../../keys/access-fields.tsx'
import { isAdmin } from '../../services/permissions.ts'
import { useCall } from '../../services/services.ts'
import { useMembershipLevel, useOrganizations } from '../../services/session-queries.ts'
import { useApiQuery } from '../../services/use-api-query.ts'
import { CopyTextButton } from '../../ui/data/copy-button.tsx'
import { DataTable } from '../../ui/data/data-table.tsx'
import { ConfirmButton } from '../../ui/dialog/confirm-button.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { KeyIcon } from '../../ui/icons.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'

const TrustDialog = lazyComponent(async () => (await import('./trust-dialog.tsx')).TrustDialog)

/** Which tokens of CI jobs and workloads are exchanged for keys. */
export function TrustPage() {
  const t = useMessages()
  const { organizationId } = useParams({ from: '/shell/organization/$organizationId/settings/trust-relationships' })
  const organizations = useOrganizations()
  const canManage = isAdmin(useMembershipLevel(organizationId))
  const [edited, setEdited] = useState<TrustRelationship | 'new'>()
  return (
    <Page
      title={t.trust.title}
      intro={t.trust.intro}
      wide
      actions={canManage && <Button onClick={() => setEdited('new')}>{t.trust.create}</Button>}
    >
      {canManage ? (
        <TrustRelationships organizationId={organizationId} onEdit={setEdited} />
      ) : (
        <Loaded query={organizations}>{() => <Text>{t.keys.adminsOnly}</Text>}</Loaded>
      )}
      <Suspense fallback={null}>
        {edited && (
          <TrustDialog
            organizationId={organizationId}
            relationship={edited === 'new' ? undefined : edited}
            onClose={() => setEdited(undefined)}
          />
        )}
      </Suspense>
    </Page>
  )
}

interface ListProps {
  organizationId: string
  onEdit: (relationship: TrustRelationship) => void
}

function TrustRelationships({ organizationId, onEdit }: ListProps) {
  const t = useMessages()
  const { day } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const projectNames = useProjectNames()
  const params = { parent_lookup_organization_id: organizationId }
  const relationships = useApiQuery(['trust-relationships', organizationId], routes.trustRelationships.list, { params })
  const remove = async ({ id }: TrustRelationship) => {
    await call(routes.trustRelationships.remove, { params: { ...params, relationship_id: id } })
    await queries.invalidateQueries({ queryKey: ['trust-relationships', organizationId] })
  }
  return (
    <Loaded query={relationships}>
      {all =>
        all.length === 0 ? (
          <EmptyState Icon={KeyIcon} title={t.trust.none} text={t.trust.noneText} />
        ) : (
          <DataTable
            label={t.trust.title}
            head={[t.trust.name, t.trust.token, t.trust.key, t.account.lastUsed, '']}
            rows={all.map(each => ({
              key: each.id,
              cells: [
                <Name key="name" relationship={each} />,
                <Token key="token" relationship={each} />,
                <Stack key="key" gap={4}>
                  <ScopeBadges scopes={each.scopes} />
                  <Text size="xs" c="dimmed">
                    {projectNames(each.projects)} · {t.trust.minutes(each.ttl_seconds / 60)}
                  </Text>
                </Stack>,
                each.last_used_at ? day(each.last_used_at) : t.common.never,
                <Group key="actions" gap={4} wrap="nowrap">
                  <Button variant="subtle" size="compact-sm" onClick={() => onEdit(each)}>
                    {t.keys.edit}
                  </Button>
                  <ConfirmButton
                    label={t.common.remove}
                    of={each.name}
                    question={t.trust.removeQuestion(each.name)}
                    detail={t.trust.removeDetail}
                    done={t.trust.removed(each.name)}
                    onConfirm={() => remove(each)}
                  />
                </Group>,
              ],
            }))}
          />
        )
      }
    </Loaded>
  )
}

/** Jobs send the id with the token. */
function Name({ relationship: { id, name } }: { relationship: TrustRelationship }) {
  const t = useMessages()
  return (
    <Stack gap={4} align="flex-start">
      {name}
      <CopyTextButton value={id} label={t.trust.copyId} of={name} />
    </Stack>
  )
}

function Token({ relationship: { issuer, rules } }: { relationship: TrustRelationship }) {
  const t = useMessages()
  return (
    <Stack gap={4}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {issuer}
      </Text>
      {rules.map(({ claim, match, value }) => (
        <Text key={`${claim} ${value}`} size="xs" style={{ overflowWrap: 'anywhere' }}>
          <Code>{claim}</Code> {match === 'exact' ? t.trust.is : t.trust.startsWith} <Code>{value}</Code>
        </Text>
      ))}
    </Stack>
  )
}
