import { strictOperators } from '@halyard/engine'
import { ActionIcon, Autocomplete, Checkbox, Group, NativeSelect, Text } from '@mantine/core'
import { useEffect, useMemo, useRef } from 'react'
import type { Messages } from '../../../i18n/en.ts'
import { useMessages } from '../../../i18n/language.tsx'
import { CrossIcon } from '../../../ui/icons.tsx'
import type { Property } from '../../filters.ts'
import classes from '../editor.module.css'
import { useEditing } from '../editor-context.ts'
import { BehaviorFields } from './behavior-fields.tsx'
import { inverted, negated, withCase } from './negation.ts'
import { operatorOptions } from './operator-groups.ts'
import { valueFor } from './operator-kind.ts'
import { type PropertySource, usePropertyNames, usePropertyValues } from './property-suggestions.ts'
import { CohortFields, type Faults, type FieldsProps, FlagFields } from './reference-fields.tsx'
import { suggestionsMax, ValueField } from './value-field.tsx'

interface Props {
  property: Property
  path: string
  /** The leading word: where, and, or. */
  joint: string
  /** Just added, so it takes the focus. */
  isNew?: boolean
  onChange: (property: Property) => void
  onRemove: () => void
}

/** One filter of a condition, laid out like a sentence. */
export function PropertyRow({ property, path, joint, isNew = false, onChange, onRemove }: Props) {
  const t = useMessages()
  const row = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it appears.
  useEffect(() => {
    if (isNew) row.current?.querySelector<HTMLElement>('input, select')?.focus()
  }, [])
  const { problemsAt, isCohort } = useEditing()
  const faults: Faults = {
    key: problemsAt(`${path}.key`)[0],
    operator: problemsAt(`${path}.operator`)[0],
    value: problemsAt(`${path}.value`)[0],
  }
  const stray = problemsAt(path).filter(problem => !Object.values(faults).includes(problem))
  return (
    <div className={classes.property} ref={row} role="group" aria-label={nameOf(property, t)}>
      <Text size="sm" c="dimmed" className={classes.joint}>
        {joint}
      </Text>
      <Group gap="xs" flex={1} miw={0} wrap="wrap" align="flex-start">
        {property.type === 'cohort' && <CohortFields property={property} faults={faults} onChange={onChange} />}
        {property.type === 'flag' && <FlagFields property={property} faults={faults} onChange={onChange} />}
        {property.type === 'behavioral' && <BehaviorFields property={property} faults={faults} onChange={onChange} />}
        {(property.type === 'person' || property.type === 'group') && (
          <ValueFields property={property} faults={faults} onChange={onChange} />
        )}
        {isCohort && property.type !== 'cohort' && (
          <Checkbox
            size="xs"
            label={t.cohorts.not}
            description={t.cohorts.notHint}
            checked={property.negation === true}
            onChange={event => onChange(negated(property, event.currentTarget.checked))}
            w="100%"
          />
        )}
        {!isCohort && (property.inverted === true || isStrict(property.operator)) && (
          <Checkbox
            size="xs"
            label={t.cohorts.not}
            description={t.cohorts.notHint}
            checked={property.inverted === true}
            onChange={event => onChange(inverted(property, event.currentTarget.checked))}
            w="100%"
          />
        )}
        {property.ignore_case === true && (
          <Checkbox
            size="xs"
            label={t.editor.ignoreCase}
            checked
            onChange={() => onChange(withCase(property))}
            w="100%"
          />
        )}
        {stray.map(problem => (
          <Text key={problem} size="xs" c="var(--mantine-color-error)" role="alert" w="100%">
            {problem}
          </Text>
        ))}
      </Group>
      <ActionIcon variant="subtle" color="gray" aria-label={t.editor.removeFilter} onClick={onRemove} mt={4}>
        <CrossIcon size={16} />
      </ActionIcon>
    </div>
  )
}

const isStrict = (operator: string): boolean => (strictOperators as readonly string[]).includes(operator)

/** Filters repeat the same field names, so each one is a labeled group. */
function nameOf({ type, key }: Property, t: Messages): string {
  if (type === 'cohort') return t.editor.cohort
  if (type === 'behavioral') return t.behavior.filterOf(key)
  return type === 'flag' ? t.editor.otherFlag : t.editor.filterOf(key)
}

function ValueFields({ property, faults, onChange }: FieldsProps) {
  const t = useMessages()
  const { projectId, isEvent, propertyNames } = useEditing()
  const source: PropertySource =
    property.type === 'group' ? (property.group_type_index ?? 0) : isEvent ? 'event' : 'person'
  const observed = usePropertyNames(projectId, source)
  const names = useMemo(
    () => (source === 'person' ? [...new Set([...observed, ...propertyNames])].sort() : [...observed]),
    [source, observed, propertyNames],
  )
  const values = usePropertyValues(projectId, source, property.key)
  const options = useMemo(() => operatorOptions(t), [t])
  const choose = (operator: string) => onChange({ ...property, operator, value: valueFor(operator, property.value) })
  return (
    <>
      <Autocomplete
        aria-label={t.editor.property}
        placeholder={t.editor.property}
        data={names}
        limit={suggestionsMax}
        value={property.key}
        title={property.key}
        error={faults.key}
        onChange={key => onChange({ ...property, key })}
        className={classes.field as string}
      />
      <NativeSelect
        aria-label={t.editor.operator}
        value={property.operator}
        error={faults.operator}
        onChange={event => choose(event.currentTarget.value)}
        data={options}
        className={classes.operator as string}
      />
      <ValueField
        property={property}
        suggestions={values}
        fault={faults.value}
        onChange={value => onChange({ ...property, value })}
      />
    </>
  )
}
