import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import { InlineMarkdown } from '../../ui/data/inline-markdown.tsx'
import type { Setting } from './setting-rules.ts'

interface Props {
  setting: Setting
  isNeeded: boolean
  value: string
  error: string | undefined
  onChange: (value: string) => void
}

/** A setting that is neither secret nor a file. */
export function SettingField({ setting, isNeeded, value, error, onChange }: Props) {
  const t = useMessages()
  const field = {
    label: setting.label,
    ...(setting.hint !== '' && { description: <InlineMarkdown text={setting.hint} /> }),
    required: isNeeded,
    withAsterisk: isNeeded,
    error,
    value,
  }
  if (setting.type === 'choice') {
    const isForeign = value !== '' && !setting.choices.includes(value)
    return (
      <NativeSelect
        {...field}
        onChange={event => onChange(event.currentTarget.value)}
        data={[
          { value: '', label: t.plugins.noChoice },
          ...setting.choices,
          ...(isForeign ? [{ value, label: value, disabled: true }] : []),
        ]}
      />
    )
  }
  if (setting.type === 'json') {
    return (
      <Textarea
        {...field}
        autosize
        minRows={3}
        maxRows={20}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.82rem' } }}
        onChange={event => onChange(event.currentTarget.value)}
      />
    )
  }
  return <TextInput {...field} onChange={event => onChange(event.currentTarget.value)} />
}
