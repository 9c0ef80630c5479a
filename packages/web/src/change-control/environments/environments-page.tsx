import { type EnvironmentSet, routes } from '@halyard/contract'
import { Button, Group, VisuallyHidden } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { setsKey, useEnvironmentSets } from '../../flags/environments/environment-queries.ts'
import { useMessages } from '../../i18n/language.tsx'
import { isAdmin } from '../../services/permissions.ts'
import { useCall } from '../../services/services.ts'
import { useMembershipLevel, useOrganizations } from '../../services/session-queries.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { ConfirmButton } from '../../ui/dialog/confirm-button.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { LayersIcon } from '../../ui/icons.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'

const SetDialog = lazyComponent(async () => (await import('./set-dialog.tsx')).SetDialog)

/** The environment sets of an organization. */
export function EnvironmentsPage() {
  const t = useMessages()
  const { organizationId } = useParams({ from: '/shell/organization/$organizationId/environments' })
  const call = useCall()
  const queries = useQueryClient()
  const organizations = useOrganizations().data
  const canManage = isAdmin(useMembershipLevel(organizationId))
  const sets = useEnvironmentSets(organizationId)
  const [edited, setEdited] = useState<EnvironmentSet | 'new'>()
  const remove = async (id: number) => {
    const params = { parent_lookup_organization_id: organizationId, set_id: String(id) }
    await call(routes.environments.remove, { params })
    await queries.invalidateQueries({ queryKey: setsKey(organizationId) })
  }
  return (
    <Page
      title={t.environments.title}
      intro={t.environments.intro}
      actions={canManage && <Button onClick={() => setEdited('new')}>{t.environments.create}</Button>}
    >
      <Loaded query={{ ...sets, data: organizations && sets.data }}>
        {environmentSets =>
          environmentSets.length === 0 ? (
            <EmptyState Icon={LayersIcon} title={t.environments.none} text={t.environments.noneText} />
          ) : (
            <DataTable
              label={t.environments.title}
              head={[t.environments.name, t.environments.title, '']}
              rows={environmentSets.map(set => ({
                key: set.id,
                cells: [
                  <Link
                    key="name"
                    to="/organization/$organizationId/environments/$setId"
                    params={{ organizationId, setId: String(set.id) }}
                  >
                    {set.name}
                  </Link>,
                  set.environments.map(({ name }) => name).join(' → '),
                  canManage ? (
                    <Group key="actions" gap={4} wrap="nowrap" justify="flex-end">
                      <Button variant="subtle" size="compact-sm" onClick={() => setEdited(set)}>
                        {t.environments.edit}
                        <VisuallyHidden>: {set.name}</VisuallyHidden>
                      </Button>
                      <ConfirmButton
                        label={t.environments.remove}
                        of={set.name}
                        question={t.environments.removeQuestion(set.name)}
                        detail={t.environments.removeDetail}
                        done={t.environments.removed(set.name)}
                        onConfirm={() => remove(set.id)}
                      />
                    </Group>
                  ) : (
                    ''
                  ),
                ],
              }))}
            />
          )
        }
      </Loaded>
      <Suspense fallback={null}>
        {edited && (
          <SetDialog
            organizationId={organizationId}
            set={edited === 'new' ? undefined : edited}
            onClose={() => setEdited(undefined)}
          />
        )}
      </Suspense>
    </Page>
  )
}
