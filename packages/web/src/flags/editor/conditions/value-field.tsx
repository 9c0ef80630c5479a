import { Autocomplete, Group, TagsInput, Text, TextInput } from '@mantine/core'
import { useMessages } from '../../../i18n/language.tsx'
import type { Property } from '../../filters.ts'
import classes from '../editor.module.css'
import { parseJson, type ValueKind, valueKind } from './operator-kind.ts'

export const suggestionsMax = 20

interface FieldProps {
  value: unknown
  suggestions: readonly string[]
  fault: string | undefined
  onChange: (value: unknown) => void
}

interface Props extends Omit<FieldProps, 'value'> {
  property: Property
}

/** The field that fits the operator. */
export function ValueField({ property, ...rest }: Props) {
  const kind = valueKind(property.operator)
  const field = { ...rest, value: property.value }
  switch (kind) {
    case 'nothing':
      return null
    case 'list':
      return <ListField {...field} />
    case 'range':
      return <RangeField {...field} />
    case 'json':
      return <JsonField {...field} />
    default:
      return <SingleField {...field} kind={kind} />
  }
}

function ListField({ value, suggestions, fault, onChange }: FieldProps) {
  const t = useMessages()
  return (
    <TagsInput
      aria-label={t.editor.value}
      placeholder={Array.isArray(value) && value.length > 0 ? '' : t.editor.values}
      value={(Array.isArray(value) ? value : value === undefined || value === '' ? [] : [value]).map(String)}
      error={fault}
      aria-description={Array.isArray(value) ? value.join(', ') : ''}
      title={Array.isArray(value) ? value.join(', ') : undefined}
      data={[...suggestions]}
      limit={suggestionsMax}
      onChange={onChange}
      acceptValueOnBlur
      className={classes.value as string}
    />
  )
}

function RangeField({ value, fault, onChange }: FieldProps) {
  const t = useMessages()
  const [least, most] = (Array.isArray(value) ? value : ['', '']).map(String)
  return (
    <Group gap={4} wrap="nowrap" align="flex-start" className={classes.value as string}>
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

function JsonField({ value, fault, onChange }: FieldProps) {
  const t = useMessages()
  return (
    <TextInput
      aria-label={t.editor.value}
      placeholder='["a", 1]'
      ff="monospace"
      value={typeof value === 'string' || value === undefined ? (value ?? '') : JSON.stringify(value)}
      error={fault}
      onChange={event => onChange(parseJson(event.currentTarget.value))}
      className={classes.value as string}
    />
  )
}

function SingleField({ kind, value, suggestions, fault, onChange }: FieldProps & { kind: ValueKind }) {
  const t = useMessages()
  const label = t.editor.value
  const hints = { date: t.editor.dateHint, version: '1.4.0', pattern: '^beta-', number: '18', text: label }
  const shared = {
    'aria-label': label,
    placeholder: hints[kind as keyof typeof hints],
    value: value === undefined || value === null ? '' : String(value),
    error: fault,
    className: classes.value as string,
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
