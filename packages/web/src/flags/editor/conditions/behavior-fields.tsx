import { Autocomplete, Group, NativeSelect, NumberInput, Text } from '@mantine/core'
import { useMessages } from '../../../i18n/language.tsx'
import classes from '../editor.module.css'
import { useEditing } from '../editor-context.ts'
import { useEventNames } from './property-suggestions.ts'
import type { FieldsProps } from './reference-fields.tsx'
import { suggestionsMax } from './value-field.tsx'

const multiple = 'performed_event_multiple'
const daysMax = 366
const countMax = 1_000_000

/** A cohort's filter on what people did: the event, how often, and in which time. */
export function BehaviorFields({ property, faults, onChange }: FieldsProps) {
  const t = useMessages().behavior
  const { projectId } = useEditing()
  const eventNames = useEventNames(projectId) ?? []
  const set = (change: Record<string, unknown>) => onChange({ ...property, ...change })
  return (
    <>
      <NativeSelect
        aria-label={t.kind}
        value={String(property.value)}
        error={faults.value}
        onChange={event => set(withKind(event.currentTarget.value))}
        data={[
          { value: 'performed_event', label: t.performed },
          { value: multiple, label: t.performedTimes },
          { value: 'performed_event_first_time', label: t.firstTime },
        ]}
        className={classes.field as string}
      />
      <Autocomplete
        aria-label={t.event}
        placeholder={t.event}
        data={[...eventNames]}
        limit={suggestionsMax}
        maxLength={200}
        value={property.key}
        title={property.key}
        error={faults.key}
        onChange={key => set({ key })}
        className={classes.field as string}
      />
      {property.value === multiple && <CountFields property={property} faults={faults} onChange={onChange} />}
      <Group gap="xs" wrap="nowrap">
        <Text size="sm">{t.inTheLast}</Text>
        <NumberInput
          aria-label={t.length}
          min={1}
          max={daysMax}
          allowDecimal={false}
          value={numberOf(property.time_value)}
          onChange={time_value => set({ time_value })}
          w={80}
        />
        <NativeSelect
          aria-label={t.unit}
          value={String(property.time_interval ?? 'day')}
          onChange={event => set({ time_interval: event.currentTarget.value })}
          data={[
            { value: 'day', label: t.days },
            { value: 'week', label: t.weeks },
            { value: 'month', label: t.months },
            { value: 'year', label: t.years },
          ]}
        />
      </Group>
    </>
  )
}

function CountFields({ property, faults, onChange }: FieldsProps) {
  const t = useMessages().behavior
  return (
    <Group gap="xs" wrap="nowrap">
      <NativeSelect
        aria-label={t.operator}
        value={property.operator}
        error={faults.operator}
        onChange={event => onChange({ ...property, operator: event.currentTarget.value })}
        data={[
          { value: 'gte', label: t.atLeast },
          { value: 'gt', label: t.moreThan },
          { value: 'exact', label: t.exactly },
          { value: 'lt', label: t.fewerThan },
          { value: 'lte', label: t.atMost },
        ]}
      />
      <NumberInput
        aria-label={t.count}
        min={0}
        max={countMax}
        allowDecimal={false}
        value={numberOf(property.operator_value)}
        onChange={operator_value => onChange({ ...property, operator_value })}
        w={90}
      />
      <Text size="sm">{t.times}</Text>
    </Group>
  )
}

const withKind = (value: string) => ({ value, ...(value === multiple && { operator: 'gte', operator_value: 2 }) })

const numberOf = (value: unknown): number | string =>
  typeof value === 'number' || typeof value === 'string' ? value : ''
