import { Button, Group, NativeSelect, NumberInput, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { type PlannedChange, plannedIn, stepsOf } from './scheduled-change.ts'

interface Props {
  isOn: boolean
  /** The current rollout percentage of each condition. */
  rollouts: readonly number[]
  isSaving: boolean
  /** The validation message for the chosen time. */
  timeProblem: string | undefined
  onCreate: (planned: PlannedChange) => void
}

const hourMilliseconds = 60 * 60 * 1000

export function ScheduleForm({ isOn, rollouts, isSaving, timeProblem, onCreate }: Props) {
  const t = useMessages()
  const { percent, moment } = useFormats()
  const [planned, setPlanned] = useState(() => plannedIn(hourMilliseconds, isOn ? 'off' : 'on'))
  const set = (change: Partial<PlannedChange>) => setPlanned(old => ({ ...old, ...change }))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onCreate(planned)
  }
  const number = (name: 'to' | 'steps' | 'hours', label: string, width: number, max: number, suffix = '') => (
    <NumberInput
      label={label}
      required
      withAsterisk={false}
      w={width}
      min={1}
      max={max}
      suffix={suffix}
      value={planned[name]}
      onChange={value => typeof value === 'number' && set({ [name]: value })}
    />
  )
  const isRamp = planned.kind === 'ramp'
  const start = new Date(planned.at)
  const steps = Number.isNaN(start.getTime()) ? [] : stepsOf(start, rollouts[planned.condition] ?? 100, planned)
  return (
    <form onSubmit={submit}>
      <Group align="flex-end">
        <NativeSelect
          label={t.schedule.what}
          value={planned.kind}
          onChange={event => set({ kind: event.currentTarget.value as PlannedChange['kind'] })}
          data={[
            { value: 'on', label: t.flags.bulkOn },
            { value: 'off', label: t.flags.bulkOff },
            { value: 'ramp', label: t.schedule.ramp },
            { value: 'condition', label: t.schedule.condition },
          ]}
        />
        <TextInput
          label={isRamp ? t.schedule.from : t.schedule.when}
          type="datetime-local"
          required
          withAsterisk={false}
          value={planned.at}
          error={timeProblem}
          onChange={event => set({ at: event.currentTarget.value })}
        />
        {isRamp && (
          <NativeSelect
            label={t.fields.filters}
            value={String(planned.condition)}
            onChange={event => set({ condition: Number(event.currentTarget.value) })}
            data={rollouts.map((rollout, index) => ({
              value: String(index),
              label: `${t.editor.condition(index + 1)} (${percent(rollout)})`,
            }))}
          />
        )}
        {(isRamp || planned.kind === 'condition') &&
          number('to', isRamp ? t.schedule.to : t.editor.rollout, 130, 100, ' %')}
        {isRamp && number('steps', t.schedule.steps, 80, 20)}
        {isRamp && number('hours', t.schedule.every, 140, 720)}
        <Button type="submit" loading={isSaving}>
          {t.schedule.create}
        </Button>
      </Group>
      {isRamp && (
        <Text size="sm" c="dimmed" mt="xs">
          {steps.map(({ at, rollout_percentage }) => `${moment(at)}: ${percent(rollout_percentage)}`).join(' · ')}
        </Text>
      )}
    </form>
  )
}
