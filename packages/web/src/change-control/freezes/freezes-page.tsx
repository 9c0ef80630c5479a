import { type Freeze, routes } from '@halyard/contract'
import { Button, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { useEnvironmentSets } from '../../flags/environments/environment-queries.ts'
import { useFormats, useLanguage, useMessages } from '../../i18n/language.tsx'
import { isAdmin } from '../../services/permissions.ts'
import { useCall } from '../../services/services.ts'
import { useMembershipLevel, useProjects } from '../../services/session-queries.ts'
import { useApiQuery } from '../../services/use-api-query.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { ConfirmButton } from '../../ui/dialog/confirm-button.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { combineQueries, Loaded } from '../../ui/feedback/problems.tsx'
import { SnowflakeIcon } from '../../ui/icons.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { useApprovers } from '../policies/use-approvers.ts'
import { readWeeklyRule, weekdayName } from './freeze-rule.ts'

const FreezeDialog = lazyComponent(async () => (await import('./freeze-dialog.tsx')).FreezeDialog)
const listedMax = '200'

/** The freezes of an organization. */
export function FreezesPage() {
  const t = useMessages()
  const { moment } = useFormats()
  const { organizationId } = useParams({ from: '/shell/organization/$organizationId/freezes' })
  const call = useCall()
  const queries = useQueryClient()
  const canManage = isAdmin(useMembershipLevel(organizationId))
  const params = { parent_lookup_organization_id: organizationId }
  const freezes = useApiQuery(['freezes', organizationId], routes.freezes.list, { params, query: { limit: listedMax } })
  const sets = useEnvironmentSets(organizationId)
  const projects = useProjects()
  const { roles, isPending } = useApprovers(organizationId)
  const loaded = combineQueries({ freezes, sets, projects })
  const whenOf = useFreezeTimes()
  const [isCreating, setIsCreating] = useState(false)
  const end = async (id: number) => {
    await call(routes.freezes.remove, { params: { ...params, freeze_id: String(id) } })
    await queries.invalidateQueries({ queryKey: ['freezes', organizationId] })
  }
  return (
    <Page
      title={t.freezes.title}
      intro={t.freezes.intro}
      actions={canManage && <Button onClick={() => setIsCreating(true)}>{t.freezes.create}</Button>}
    >
      {/* Names of roles are part of the table. */}
      <Loaded query={{ ...loaded, data: isPending ? undefined : loaded.data }}>
        {data => {
          const scopeOf = ({ environment_set, project, tag }: Freeze): string => {
            const set = data.sets.find(({ id }) => id === environment_set)?.name ?? `#${environment_set}`
            const name = data.projects.find(({ id }) => id === project)?.name ?? `#${project}`
            const parts = [
              ...(environment_set === null ? [] : [t.freezes.set(set)]),
              ...(project === null ? [] : [t.freezes.project(name)]),
              ...(tag === null ? [] : [t.freezes.tagged(tag)]),
            ]
            return parts.length === 0 ? t.freezes.whole : parts.join(', ')
          }
          const rolesOf = ({ except_roles }: Freeze): string =>
            except_roles.map(id => roles.find(({ value }) => value === id)?.label ?? id).join(', ')
          return data.freezes.results.length === 0 ? (
            <EmptyState Icon={SnowflakeIcon} title={t.freezes.none} text={t.freezes.noneText} />
          ) : (
            <DataTable
              label={t.freezes.title}
              head={[t.freezes.columnReason, t.freezes.columnWhen, t.freezes.columnScope, t.freezes.columnState, '']}
              rows={data.freezes.results.map(freeze => ({
                key: freeze.id,
                cells: [
                  freeze.reason,
                  whenOf(freeze),
                  <span key="scope">
                    {scopeOf(freeze)}
                    {freeze.except_roles.length > 0 && (
                      <Text size="xs" c="dimmed">
                        {t.freezes.exceptRoles(rolesOf(freeze))}
                      </Text>
                    )}
                  </span>,
                  <Text key="state" size="sm" fw={freeze.is_active ? 600 : 400}>
                    {freeze.current_end
                      ? t.freezes.active(moment(freeze.current_end))
                      : freeze.next_start
                        ? t.freezes.next(moment(freeze.next_start))
                        : t.freezes.over}
                  </Text>,
                  canManage ? (
                    <ConfirmButton
                      key="end"
                      label={t.freezes.end}
                      of={freeze.reason}
                      question={t.freezes.endQuestion(freeze.reason)}
                      detail={t.freezes.endDetail}
                      done={t.freezes.ended}
                      onConfirm={() => end(freeze.id)}
                    />
                  ) : (
                    ''
                  ),
                ],
              }))}
            />
          )
        }}
      </Loaded>
      <Suspense fallback={null}>
        {isCreating && <FreezeDialog organizationId={organizationId} onClose={() => setIsCreating(false)} />}
      </Suspense>
    </Page>
  )
}

/** When a freeze applies, in words. */
function useFreezeTimes(): (freeze: Freeze) => string {
  const t = useMessages()
  const { language } = useLanguage()
  const { moment, count } = useFormats()
  return ({ starts_at, ends_at, rrule, duration_minutes, time_zone }) => {
    if (rrule === null) return `${moment(starts_at ?? '')} – ${moment(ends_at ?? '')}`
    const rule = readWeeklyRule(rrule)
    if (!rule) return t.freezes.otherRule(rrule, time_zone)
    const days = rule.days.map(day => weekdayName(day, language, 'short')).join(', ')
    return t.freezes.rule(days, rule.time, count((duration_minutes ?? 0) / 60), time_zone)
  }
}
