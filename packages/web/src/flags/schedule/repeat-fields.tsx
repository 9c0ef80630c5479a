import { NativeSelect } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import { TextField } from '../../ui/form/text-field.tsx'
import { type PlannedRepeat, type Repeat, repeats } from './recurrence.ts'

interface Props {
  planned: PlannedRepeat
  /** What the switch does; it is reverted to the opposite. */
  isTurningOn: boolean
  onChange: (change: Partial<PlannedRepeat>) => void
}

/** How a switch repeats, and when it is reverted. */
export function RepeatFields({ planned, isTurningOn, onChange }: Props) {
  const t = useMessages()
  const { repeat, revert, lastDay } = planned
  const isOnce = repeat === 'once'
  return (
    <>
      <NativeSelect
        label={t.schedule.repeat}
        value={repeat}
        onChange={event => {
          const next = event.currentTarget.value as Repeat
          // Once it is a date and time, otherwise the time of day.
          onChange({ repeat: next, ...((next === 'once') !== isOnce && { revert: '' }) })
        }}
        data={repeats.map(value => ({ value, label: t.schedule.repeats[value] }))}
      />
      <TextField
        label={isTurningOn ? t.schedule.offAgain : t.schedule.onAgain}
        type={isOnce ? 'datetime-local' : 'time'}
        value={revert}
        onChange={event => onChange({ revert: event.currentTarget.value })}
      />
      {!isOnce && (
        <TextField
          label={t.schedule.lastDay}
          type="date"
          value={lastDay}
          onChange={event => onChange({ lastDay: event.currentTarget.value })}
        />
      )}
    </>
  )
}
