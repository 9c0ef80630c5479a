import { routes, type UsedBy as UsedByWire } from '@halyard/contract'
import { Alert, List, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { Loaded } from '../ui/feedback/problems.tsx'

/** What depends on a flag or a cohort. Mount it with the dialog that asks: an older result is not shown again. */
export function useUsedBy(projectId: string, of: { readonly flag: number } | { readonly cohort: number }) {
  const call = useCall()
  const isFlag = 'flag' in of
  const id = String(isFlag ? of.flag : of.cohort)
  return useQuery({
    queryKey: ['used-by', projectId, isFlag ? 'flag' : 'cohort', id],
    queryFn: ({ signal }) =>
      isFlag
        ? call(routes.flagDetails.flagUsedBy, { params: { project_id: projectId, id }, signal })
        : call(routes.flagDetails.cohortUsedBy, { params: { project_id: projectId, id }, signal }),
    staleTime: 0,
    gcTime: 0,
  })
}

/** What depends on a flag or a cohort, before it is deleted or archived. */
export function UsedBy({ used }: { used: ReturnType<typeof useUsedBy> }) {
  const t = useMessages()
  return (
    <Loaded query={used}>
      {known => (isUnused(known) ? <Text size="sm">{t.usedBy.nothing}</Text> : <Uses used={known} />)}
    </Loaded>
  )
}

const isUnused = ({ flags, cohorts, environments, last_called_at, ...counts }: UsedByWire): boolean =>
  flags.length + cohorts.length + environments.length + counts.pending_schedules + counts.code_references === 0 &&
  last_called_at === null

function Uses({ used }: { used: UsedByWire }) {
  const t = useMessages()
  const { moment } = useFormats()
  const { flags, cohorts, pending_schedules: schedules, environments, last_called_at: calledAt } = used
  const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name).join(', ')
  return (
    <Alert color={flags.length + cohorts.length > 0 ? 'red' : 'yellow'} title={t.usedBy.title} variant="light">
      <List size="sm">
        {flags.length > 0 && <List.Item>{t.usedBy.flags(flags.map(({ key }) => key).join(', '))}</List.Item>}
        {cohorts.length > 0 && <List.Item>{t.usedBy.cohorts(names(cohorts))}</List.Item>}
        {schedules > 0 && <List.Item>{t.usedBy.schedules(schedules)}</List.Item>}
        {environments.length > 0 && <List.Item>{t.usedBy.environments(names(environments))}</List.Item>}
        {used.code_references > 0 && (
          <List.Item>{t.usedBy.code(used.code_references, used.code_repositories.join(', '))}</List.Item>
        )}
        {calledAt !== null && <List.Item>{t.usage.lastCalled(moment(calledAt))}</List.Item>}
      </List>
    </Alert>
  )
}
