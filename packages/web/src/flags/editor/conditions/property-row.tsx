import { operators, strictOperators } from '@halyard/engine'
import { ActionIcon, Autocomplete, Checkbox, Group, NativeSelect, TagsInput, Text, TextInput } from '@mantine/core'
import { useEffect, useMemo, useRef } from 'react'
import type { Messages } from '../../../i18n/en.ts'
import { useMessages } from '../../../i18n/language.tsx'
import { CrossIcon } from '../../../ui/icons.tsx'
import type { Property } from '../../filters.ts'
import classes from '../editor.module.css'
import { useEditing } from '../editor-context.ts'
import { inverted, negated, withCase } from './negation.ts'
import { parseJson, valueFor, valueKind } from './operator-kind.ts'
import { type PropertySource, usePropertyNames, usePropertyValues } from './property-suggestions.ts'
import { CohortFields, type Faults, type FieldsProps, FlagFields } from './reference-fields.tsx'

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
      <Group gap="xs" flex={1} wrap="wrap" align="flex-start">
        {property.type === 'cohort' && <CohortFields property={property} faults={faults} onChange={onChange} />}
        {property.type === 'flag' && <FlagFields property={property} faults={faults} onChange={onChange} />}
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
  const words: Record<string, string> = t.operators
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
        data={[...operators, ...strictOperators].map(operator => ({
          value: operator,
          label: words[operator] ?? operator,
        }))}
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

const suggestionsMax = 20

interface ValueProps {
  property: Property
  suggestions: readonly string[]
  fault: string | undefined
  onChange: (value: unknown) => void
}

function ValueField({ property, suggestions, fault, onChange }: ValueProps) {
  const t = useMessages()
  const { value } = property
  const label = t.editor.value
  const className = classes.value as string
  switch (valueKind(property.operator)) {
    case 'nothing':
      return null
    case 'list':
      return (
        <TagsInput
          aria-label={label}
          placeholder={Array.isArray(value) && value.length > 0 ? '' : t.editor.values}
          value={(Array.isArray(value) ? value : value === undefined || value === '' ? [] : [value]).map(String)}
          error={fault}
          aria-description={Array.isArray(value) ? value.join(', ') : ''}
          title={Array.isArray(value) ? value.join(', ') : undefined}
          data={[...suggestions]}
          limit={suggestionsMax}
          onChange={onChange}
          acceptValueOnBlur
          className={className}
        />
      )
    case 'range': {
      const [least, most] = (Array.isArray(value) ? value : ['', '']).map(String)
      return (
        <Group gap={4} wrap="nowrap" align="flex-start" className={className}>
          <TextInput
            aria-label={t.editor.least}
            inputMode="decimal"
            value={least ?? ''}
            error={fault}
            onChange={event => onChange([event.currentTarget.value, most ?? ''])}
          />
          <Text size="sm" c="dimmed" pt={7}>
            {t.editor.and}
          </Text>
          <TextInput
            aria-label={t.editor.most}
            inputMode="decimal"
            value={most ?? ''}
            error={fault !== undefined}
            onChange={event => onChange([least ?? '', event.currentTarget.value])}
          />
        </Group>
      )
    }
    case 'json':
      return (
        <TextInput
          aria-label={label}
          placeholder='["a", 1]'
          ff="monospace"
          value={typeof value === 'string' || value === undefined ? (value ?? '') : JSON.stringify(value)}
          error={fault}
          onChange={event => onChange(parseJson(event.currentTarget.value))}
          className={className}
        />
      )
    default: {
      const kind = valueKind(property.operator)
      const hints = { date: t.editor.dateHint, version: '1.4.0', pattern: '^beta-', number: '18', text: label }
      const shared = {
        'aria-label': label,
        placeholder: hints[kind as keyof typeof hints],
        value: value === undefined || value === null ? '' : String(value),
        error: fault,
        className,
      }
      if (kind === 'text') {
        // The typed value itself is no suggestion: its list would cover what is below the field.
        const others = suggestions.filter(each => each !== shared.value)
        return <Autocomplete {...shared} data={others} limit={suggestionsMax} onChange={onChange} />
      }
      return (
        <TextInput
          {...shared}
          ff={kind === 'pattern' ? 'monospace' : 'text'}
          inputMode={kind === 'number' ? 'decimal' : 'text'}
          onChange={event => onChange(event.currentTarget.value)}
        />
      )
    }
  }
}
