import { routes, type ScheduledChange } from '@halyard/contract'
import { Badge, Button, Divider, Group, NativeSelect, NumberInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ConfirmButton } from '../app/confirm-button.tsx'
import { PlainTable } from '../app/plain-table.tsx'
import { Loaded, ProblemAlert } from '../app/problems.tsx'
import { useCall } from '../app/services.ts'
import { useFormats, useMessages } from '../messages/language.tsx'
import { readFilters } from './filters.ts'
import type { TabProps } from './flag-page.tsx'
import { RollbackSection } from './rollback-section.tsx'

type Kind = 'on' | 'off' | 'ramp'
const hourMilliseconds = 60 * 60 * 1000

/** What the flag is going to do by itself: be switched at a time, or reach more people step by step. */
export function ScheduleTab(props: TabProps) {
  const { flag, project } = props
  const t = useMessages()
  const { moment } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const params = { project_id: String(project.id) }
  const queryKey = ['schedules', params.project_id, flag.id]
  const schedules = useQuery({
    queryKey,
    queryFn: async ({ signal }) =>
      (
        await call(routes.scheduledChanges.list, {
          params,
          query: { record_id: String(flag.id), limit: '200' },
          signal,
        })
      ).results,
    refetchInterval: 5000,
  })
  const callOff = async (id: number) => {
    await call(routes.scheduledChanges.remove, { params: { ...params, id: String(id) } })
    await queries.invalidateQueries({ queryKey })
  }
  const colours: Record<string, string> = { pending: 'indigo', done: 'green', failed: 'red' }
  const states: Record<string, string> = t.schedule.states
  return (
    <Stack>
      {flag.can_edit && (
        <NewSchedule
          flag={flag}
          projectId={params.project_id}
          onCreated={() => queries.invalidateQueries({ queryKey })}
        />
      )}
      <Loaded query={schedules}>
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
                  <Sentence key="what" change={change} />,
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
      <Divider my="md" />
      <RollbackSection {...props} />
    </Stack>
  )
}

function Sentence({ change }: { change: ScheduledChange }) {
  const t = useMessages()
  const { percent } = useFormats()
  const { operation, value } = change.payload as { operation?: string; value?: unknown }
  if (operation === 'update_status') return value === true ? t.flags.bulkOn : t.flags.bulkOff
  if (operation === 'ramp') {
    const { steps = [], condition_index = 0 } = (value ?? {}) as {
      steps?: { rollout_percentage: number }[]
      condition_index?: number
    }
    return t.schedule.rampTo(condition_index + 1, steps.map(step => percent(step.rollout_percentage)).join(' → '))
  }
  return operation === 'add_release_condition' ? t.editor.addCondition : t.schedule.otherChange
}

function NewSchedule({
  flag,
  projectId,
  onCreated,
}: {
  flag: TabProps['flag']
  projectId: string
  onCreated: () => unknown
}) {
  const t = useMessages()
  const call = useCall()
  const conditions = readFilters(flag.filters).groups
  const [kind, setKind] = useState<Kind>(flag.active ? 'off' : 'on')
  const [at, setAt] = useState(() => localInput(Date.now() + hourMilliseconds))
  const [condition, setCondition] = useState('0')
  const [to, setTo] = useState(100)
  const [stepCount, setStepCount] = useState(4)
  const [hours, setHours] = useState(24)
  const create = useMutation({
    mutationFn: () => {
      const start = new Date(at)
      const body =
        kind === 'ramp'
          ? {
              payload: {
                operation: 'ramp' as const,
                value: { condition_index: Number(condition), steps: stepsOf(start, from, to, stepCount, hours) },
              },
            }
          : {
              payload: { operation: 'update_status' as const, value: kind === 'on' },
              scheduled_at: start.toISOString(),
            }
      return call(routes.scheduledChanges.create, {
        params: { project_id: projectId },
        body: { record_id: String(flag.id), ...body },
      })
    },
    onSuccess: onCreated,
  })
  const from = conditions[Number(condition)]?.rollout_percentage ?? 100
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Title order={2}>{t.schedule.title}</Title>
        <ProblemAlert error={create.error} />
        <Group align="flex-end">
          <NativeSelect
            label={t.schedule.what}
            value={kind}
            onChange={event => setKind(event.currentTarget.value as Kind)}
            data={[
              { value: 'on', label: t.flags.bulkOn },
              { value: 'off', label: t.flags.bulkOff },
              { value: 'ramp', label: t.schedule.ramp },
            ]}
          />
          <TextInput
            label={kind === 'ramp' ? t.schedule.from : t.schedule.when}
            type="datetime-local"
            required
            withAsterisk={false}
            value={at}
            onChange={event => setAt(event.currentTarget.value)}
          />
          {kind === 'ramp' && (
            <>
              <NativeSelect
                label={t.fields.filters}
                value={condition}
                onChange={event => setCondition(event.currentTarget.value)}
                data={conditions.map((_each, index) => ({
                  value: String(index),
                  label: t.editor.condition(index + 1),
                }))}
              />
              <NumberInput
                label={t.schedule.to}
                suffix=" %"
                w={90}
                min={1}
                max={100}
                value={to}
                onChange={value => setTo(Number(value))}
              />
              <NumberInput
                label={t.schedule.steps}
                w={80}
                min={1}
                max={20}
                value={stepCount}
                onChange={value => setStepCount(Number(value))}
              />
              <NumberInput
                label={t.schedule.every}
                w={110}
                min={1}
                max={720}
                value={hours}
                onChange={value => setHours(Number(value))}
              />
            </>
          )}
          <Button type="submit" loading={create.isPending}>
            {t.schedule.create}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Even steps from the present share to the wanted one. */
const stepsOf = (start: Date, from: number, to: number, count: number, hours: number) =>
  Array.from({ length: count }, (_, index) => ({
    at: new Date(start.getTime() + index * hours * hourMilliseconds).toISOString(),
    rollout_percentage: Math.round((from + ((to - from) * (index + 1)) / count) * 100) / 100,
  }))

/** The local time in the form that a date field of the browser takes. */
function localInput(milliseconds: number): string {
  const date = new Date(milliseconds)
  return new Date(milliseconds - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
