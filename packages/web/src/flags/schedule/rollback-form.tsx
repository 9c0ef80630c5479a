import { Button, Group, NativeSelect, SegmentedControl, Stack, Switch } from '@mantine/core'
import { type FormEvent, useRef, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { NumberField } from '../../ui/form/number-field.tsx'
import { SuggestField } from '../../ui/form/suggest-field.tsx'
import { TextField } from '../../ui/form/text-field.tsx'
import { unlessEdited } from '../../ui/form/unless-edited.ts'
import { useAttempts } from '../../ui/layout/use-attempts.ts'
import { useEventNames } from '../editor/conditions/property-suggestions.ts'
import { type DraftProblem, unfilledAt } from '../editor/draft-problems.ts'
import { EventFilters } from './event-filters.tsx'
import {
  comparisons,
  defaultCondition,
  type RollbackCondition,
  sampleMaths,
  windowMinutesMax,
} from './rollback-condition.ts'
import classes from './schedule.module.css'
import { UnknownEvent } from './unknown-event.tsx'

interface Props {
  projectId: string
  isSaving: boolean
  onCreate: (condition: RollbackCondition) => Promise<unknown>
}

const none: readonly DraftProblem[] = []
const suggestionsMax = 20

export function NewRollbackCondition({ projectId, isSaving, onCreate }: Props) {
  const t = useMessages()
  const w = t.rollback
  const [condition, setCondition] = useState(defaultCondition)
  const set = (change: Partial<RollbackCondition>) => setCondition(old => ({ ...old, ...change }))
  const isEvents = condition.source === 'events'
  const problems = isEvents ? unfilledAt(t, condition.properties, '') : none
  const form = useRef<HTMLFormElement>(null)
  const { hasTried, attempt, reset } = useAttempts(form)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    attempt()
    if (problems.length > 0) return
    try {
      await onCreate(condition)
      setCondition(unlessEdited(condition, defaultCondition))
      reset()
    } catch {
      // The error is shown above the list; the form keeps its input.
    }
  }
  return (
    <form ref={form} onSubmit={submit}>
      <Stack gap="sm">
        <SegmentedControl
          aria-label={w.source}
          style={{ alignSelf: 'flex-start' }}
          size="xs"
          value={condition.source}
          onChange={source => set({ source: source as RollbackCondition['source'] })}
          data={[
            { value: 'events', label: w.fromEvents },
            { value: 'samples', label: w.fromSamples },
          ]}
        />
        <MeasureFields projectId={projectId} condition={condition} onChange={set} />
        {isEvents && (
          <>
            <EventFilters
              projectId={projectId}
              properties={condition.properties}
              problems={hasTried ? problems : none}
              onChange={properties => set({ properties })}
            />
            <Switch
              label={w.onlyFlagged}
              checked={condition.isOnlyFlagged}
              onChange={event => set({ isOnlyFlagged: event.currentTarget.checked })}
            />
          </>
        )}
        <Group>
          <Button type="submit" variant="default" loading={isSaving}>
            {w.add}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface FieldsProps {
  projectId: string
  condition: RollbackCondition
  onChange: (change: Partial<RollbackCondition>) => void
}

/** What is measured, and the value at which the flag is rolled back. */
function MeasureFields({ projectId, condition, onChange }: FieldsProps) {
  const t = useMessages()
  const w = t.rollback
  const isEvents = condition.source === 'events'
  const eventNames = useEventNames(projectId)
  const eventField = (label: string, placeholder: string, name: 'name' | 'per') => {
    const isUnknown = eventNames && condition[name] !== '' && !eventNames.includes(condition[name])
    return (
      <SuggestField
        label={label}
        placeholder={placeholder}
        required
        maxLength={200}
        data={eventNames ? [...eventNames] : []}
        limit={suggestionsMax}
        value={condition[name]}
        onChange={eventName => onChange({ [name]: eventName })}
        {...(isUnknown && {
          description: <UnknownEvent />,
          inputWrapperOrder: ['label', 'input', 'description', 'error'],
        })}
      />
    )
  }
  const number = (name: 'threshold' | 'windowMinutes' | 'minimumSamples', label: string, limits: object) => (
    <NumberField
      label={label}
      required
      value={condition[name]}
      onChange={value => typeof value === 'number' && onChange({ [name]: value })}
      {...limits}
    />
  )
  const operators: Record<string, string> = t.operators
  return (
    <div className={classes.fields}>
      {isEvents ? (
        eventField(w.event, '$exception', 'name')
      ) : (
        <TextField
          label={w.metric}
          placeholder="checkout_latency_ms"
          required
          maxLength={200}
          value={condition.name}
          onChange={event => onChange({ name: event.currentTarget.value })}
        />
      )}
      <NativeSelect
        label={w.measure}
        value={isEvents ? condition.eventMath : condition.sampleMath}
        onChange={event =>
          onChange({ [isEvents ? 'eventMath' : 'sampleMath']: event.currentTarget.value } as Partial<RollbackCondition>)
        }
        data={
          isEvents
            ? (['count', 'rate', 'per'] as const).map(value => ({ value, label: w.eventMaths[value] }))
            : sampleMaths.map(value => ({ value, label: w.sampleMaths[value] }))
        }
      />
      {isEvents && condition.eventMath === 'per' && eventField(w.per, '$pageview', 'per')}
      <NativeSelect
        label={t.editor.operator}
        value={condition.operator}
        onChange={event => onChange({ operator: event.currentTarget.value })}
        data={comparisons.map(value => ({ value, label: operators[value] ?? value }))}
      />
      {number('threshold', w.threshold, {})}
      {number('windowMinutes', w.minutes, { min: 1, max: windowMinutesMax, allowDecimal: false })}
      {number('minimumSamples', w.minimum, { min: 0, allowDecimal: false })}
    </div>
  )
}
