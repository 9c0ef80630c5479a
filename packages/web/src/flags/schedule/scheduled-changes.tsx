import { routes } from '@halyard/contract'
import { Badge, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ConfirmButton } from '../../app/confirm-button.tsx'
import { PlainTable } from '../../app/plain-table.tsx'
import { Loaded } from '../../app/problems.tsx'
import { useCall } from '../../app/services.ts'
import { useFormats, useMessages } from '../../messages/language.tsx'
import { readFilters } from '../filters.ts'
import type { TabProps } from '../flag-tabs.ts'
import { AutomationSection } from './automation-section.tsx'
import { NewSchedule } from './new-schedule.tsx'
import { changeSentence, type PlannedChange, plannedToWire } from './planned-change.ts'

const colours: Record<string, string> = { pending: 'indigo', done: 'green', failed: 'red' }

export function ScheduledChanges({ flag, project }: TabProps) {
  const t = useMessages()
  const { moment, percent } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const params = { project_id: String(project.id) }
  const conditions = readFilters(flag.filters).groups
  const schedules = useQuery({
    queryKey: ['schedules', params.project_id, flag.id],
    queryFn: async ({ signal }) => {
      const query = { record_id: String(flag.id), limit: '200' }
      return (await call(routes.scheduledChanges.list, { params, query, signal })).results
    },
  })
  const refresh = () => queries.invalidateQueries({ queryKey: ['schedules', params.project_id] })
  const create = useMutation({
    mutationFn: (planned: PlannedChange) => {
      const body = plannedToWire(planned, conditions[planned.condition]?.rollout_percentage ?? 100)
      return call(routes.scheduledChanges.create, { params, body: { record_id: String(flag.id), ...body } })
    },
    onSuccess: refresh,
  })
  const callOff = async (id: number) => {
    await call(routes.scheduledChanges.remove, { params: { ...params, id: String(id) } })
    await refresh()
  }
  const states: Record<string, string> = t.schedule.states
  return (
    <AutomationSection
      title={t.schedule.title}
      intro={t.schedule.intro}
      error={create.error}
      form={
        flag.can_edit && (
          <NewSchedule
            isOn={flag.active}
            shares={conditions.map(condition => condition.rollout_percentage ?? 100)}
            isSaving={create.isPending}
            onCreate={planned => create.mutate(planned)}
          />
        )
      }
    >
      <Loaded query={schedules} minHeight={24}>
        {all =>
          all.length === 0 ? (
            <Text size="sm">{t.schedule.none}</Text>
          ) : (
            <PlainTable
              label={t.schedule.title}
              head={[t.schedule.what, t.schedule.when, t.schedule.state, '']}
              rows={all.map(change => ({
                key: change.id,
                cells: [
                  changeSentence(change, t, percent),
                  moment(change.next_attempt_at ?? change.executed_at ?? change.scheduled_at),
                  <span key="state">
                    <Badge variant="light" color={colours[change.status] ?? 'gray'}>
                      {states[change.status] ?? change.status}
                    </Badge>
                    {change.failure_reason && (
                      <Text size="xs" mt={4}>
                        {change.failure_reason}
                      </Text>
                    )}
                  </span>,
                  flag.can_edit && change.status === 'pending' ? (
                    <ConfirmButton
                      key="off"
                      label={t.schedule.callOff}
                      question={t.schedule.callOffQuestion}
                      onConfirm={() => callOff(change.id)}
                    />
                  ) : (
                    ''
                  ),
                ],
              }))}
            />
          )
        }
      </Loaded>
    </AutomationSection>
  )
}
