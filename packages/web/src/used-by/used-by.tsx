import { routes, type UsedBy as UsedByWire } from '@halyard/contract'
import { Alert, List, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Call } from '../api/client.ts'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { Loaded } from '../ui/feedback/problems.tsx'

type Used = { readonly flag: number } | { readonly cohort: number }

export function loadUsedBy(call: Call, projectId: string, of: Used, signal: AbortSignal): Promise<UsedByWire> {
  const params = { project_id: projectId, id: idOf(of) }
  return 'flag' in of
    ? call(routes.flagDetails.flagUsedBy, { params, signal })
    : call(routes.flagDetails.cohortUsedBy, { params, signal })
}

const idOf = (of: Used): string => String('flag' in of ? of.flag : of.cohort)

/** What depends on a flag or a cohort. Mount it with the dialog that asks: an older result is not shown again. */
export function useUsedBy(projectId: string, of: Used) {
  const call = useCall()
  return useQuery({
    queryKey: ['used-by', projectId, 'flag' in of ? 'flag' : 'cohort', idOf(of)],
    queryFn: ({ signal }) => loadUsedBy(call, projectId, of, signal),
    staleTime: 0,
    gcTime: 0,
  })
}

/** What depends on a flag or a cohort, before it is deleted or archived. */
export function UsedBy({ used }: { used: ReturnType<typeof useUsedBy> }) {
  const t = useMessages()
  const linesOf = useUseLines()
  return (
    <Loaded query={used}>
      {uses => (linesOf(uses).length === 0 ? <Text size="sm">{t.usedBy.nothing}</Text> : <Uses used={uses} />)}
    </Loaded>
  )
}

/** One line for each kind of use. */
export function useUseLines(): (used: UsedByWire) => readonly string[] {
  const t = useMessages()
  const { moment } = useFormats()
  const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name).join(', ')
  return ({ flags, cohorts, pending_schedules: schedules, environments, last_called_at: calledAt, ...code }) => [
    ...(flags.length > 0 ? [t.usedBy.flags(flags.map(({ key }) => key).join(', '))] : []),
    ...(cohorts.length > 0 ? [t.usedBy.cohorts(names(cohorts))] : []),
    ...(schedules > 0 ? [t.usedBy.schedules(schedules)] : []),
    ...(environments.length > 0 ? [t.usedBy.environments(names(environments))] : []),
    ...(code.code_references > 0 ? [t.usedBy.code(code.code_references, code.code_repositories.join(', '))] : []),
    ...(calledAt === null ? [] : [t.usage.lastCalled(moment(calledAt))]),
  ]
}

function Uses({ used }: { used: UsedByWire }) {
  const t = useMessages()
  const linesOf = useUseLines()
  return (
    <Alert
      color={used.flags.length + used.cohorts.length > 0 ? 'red' : 'yellow'}
      title={t.usedBy.title}
      variant="light"
    >
      <List size="sm">
        {linesOf(used).map(line => (
          <List.Item key={line}>{line}</List.Item>
        ))}
      </List>
    </Alert>
  )
}
