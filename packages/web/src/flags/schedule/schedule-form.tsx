import { Alert, Button, Group, NativeSelect, Text } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { Formats } from '../../i18n/formats.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { NumberField } from '../../ui/form/number-field.tsx'
import { TextField } from '../../ui/form/text-field.tsx'
import { timeOfDay } from './recurrence.ts'
import { RepeatFields } from './repeat-fields.tsx'
import { type PlannedChange, plannedIn, readSteps, stepsOf, suggestSteps } from './scheduled-change.ts'

interface Props {
  isOn: boolean
  /** The current rollout percentage of each condition. */
  rollouts: readonly number[]
  /** The validation message for the chosen time. */
  timeProblem: string | undefined
  /** With the percentages of a ramp. */
  onReview: (planned: PlannedChange, percentages: readonly number[]) => void
}

const hourMilliseconds = 60 * 60 * 1000

export function ScheduleForm({ isOn, rollouts, timeProblem, onReview }: Props) {
  const t = useMessages()
  const formats = useFormats()
  const [planned, setPlanned] = useState(() => plannedIn(hourMilliseconds, isOn ? 'off' : 'on', rollouts))
  const set = (change: Partial<PlannedChange>) => setPlanned(old => ({ ...old, ...change }))
  const isRamp = planned.kind === 'ramp'
  const isSwitch = planned.kind === 'on' || planned.kind === 'off'
  const isTimeOnly = isSwitch && planned.repeat === 'workdays'
  const from = rollouts[planned.condition] ?? 100
  const percentages = readSteps(planned.steps, from)
  const canRamp = rollouts.some(rollout => rollout < 100)
  const start = new Date(planned.at)
  const isTimed = !Number.isNaN(start.getTime())
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isTimed || (isRamp && !percentages)) return
    onReview(planned, percentages ?? [])
  }
  return (
    <form onSubmit={submit}>
      <Group align="flex-start">
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
        <TextField
          label={isRamp ? t.schedule.from : t.schedule.when}
          description={t.schedule.timeZone(timeZone)}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          type={isTimeOnly ? 'time' : 'datetime-local'}
          required
          value={isTimeOnly ? timeOfDay(planned.at) : planned.at}
          error={timeProblem}
          onChange={event => {
            const { value } = event.currentTarget
            set({ at: isTimeOnly ? `${planned.at.slice(0, 10)}T${value}` : value })
          }}
        />
        {isSwitch && <RepeatFields planned={planned} isTurningOn={planned.kind === 'on'} onChange={set} />}
        {isRamp && canRamp && <RampFields planned={planned} rollouts={rollouts} onChange={set} />}
        {planned.kind === 'condition' && (
          <NumberField
            label={t.editor.rollout}
            required
            w={130}
            min={1}
            max={100}
            suffix=" %"
            value={planned.to}
            onChange={to => typeof to === 'number' && set({ to })}
          />
        )}
        <Button type="submit" mt={25} disabled={isRamp && !canRamp}>
          {t.schedule.create}
        </Button>
      </Group>
      {isRamp && !canRamp && (
        <Alert color="gray" mt="xs">
          {t.schedule.nothingToRamp}
        </Alert>
      )}
      {isRamp && canRamp && (
        <Text size="sm" c="dimmed" mt="xs" role="status">
          {isTimed && percentages && rampText(stepsOf(start, percentages, planned.hours), formats)}
        </Text>
      )}
    </form>
  )
}

interface RampProps {
  planned: PlannedChange
  rollouts: readonly number[]
  onChange: (change: Partial<PlannedChange>) => void
}

function RampFields({ planned, rollouts, onChange }: RampProps) {
  const t = useMessages()
  const { percent } = useFormats()
  const from = rollouts[planned.condition] ?? 100
  return (
    <>
      <NativeSelect
        label={t.schedule.conditionOf}
        value={String(planned.condition)}
        onChange={event => {
          const condition = Number(event.currentTarget.value)
          onChange({ condition, steps: suggestSteps(rollouts[condition] ?? 100) })
        }}
        data={rollouts.map((rollout, index) => ({
          value: String(index),
          label: `${t.editor.condition(index + 1)} (${percent(rollout)})`,
          disabled: rollout >= 100,
        }))}
      />
      <TextField
        label={t.schedule.steps}
        description={t.schedule.stepsHint}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        required
        value={planned.steps}
        error={readSteps(planned.steps, from) ? undefined : t.schedule.stepsInvalid(percent(from))}
        onChange={event => onChange({ steps: event.currentTarget.value })}
      />
      <NumberField
        label={t.schedule.every}
        required
        w={200}
        min={1}
        max={720}
        value={planned.hours}
        onChange={hours => typeof hours === 'number' && onChange({ hours })}
      />
    </>
  )
}

const rampText = (steps: ReturnType<typeof stepsOf>, { moment, percent }: Formats): string =>
  steps.map(({ at, rollout_percentage }) => `${moment(at)}: ${percent(rollout_percentage)}`).join(' · ')

const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
