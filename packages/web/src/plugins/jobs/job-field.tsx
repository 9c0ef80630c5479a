import { Fieldset, Group, Switch, Textarea, TextInput } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import type { JobField, JobValue } from './job-form.ts'

interface Props {
  field: JobField
  value: JobValue | undefined
  error: string | undefined
  onChange: (value: JobValue) => void
}

export function JobFieldInput({ field, value = '', error, onChange }: Props) {
  const t = useMessages()
  const shared = { label: field.label, required: field.isRequired, withAsterisk: field.isRequired, error }
  if (field.type === 'boolean') {
    const checked = value === true
    return <Switch label={field.label} checked={checked} onChange={event => onChange(event.currentTarget.checked)} />
  }
  if (field.type === 'daterange') {
    const [from, to] = Array.isArray(value) ? value : ['', '']
    return (
      <Fieldset legend={field.label} variant="unstyled">
        <Group grow>
          <TextInput
            {...shared}
            label={t.plugins.from}
            type="date"
            value={from}
            onChange={event => onChange([event.currentTarget.value, to])}
          />
          <TextInput
            {...shared}
            label={t.plugins.to}
            type="date"
            value={to}
            onChange={event => onChange([from, event.currentTarget.value])}
          />
        </Group>
      </Fieldset>
    )
  }
  const text = typeof value === 'string' ? value : ''
  if (field.type === 'json') {
    return (
      <Textarea
        {...shared}
        autosize
        minRows={2}
        spellCheck={false}
        value={text}
        onChange={event => onChange(event.currentTarget.value)}
      />
    )
  }
  const type = field.type === 'string' ? 'text' : field.type
  return <TextInput {...shared} type={type} value={text} onChange={event => onChange(event.currentTarget.value)} />
}
