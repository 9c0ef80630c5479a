import { Stack, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import { fieldProblem } from '../../ui/feedback/problems.tsx'
import type { Draft } from './draft.ts'

interface Props {
  draft: Draft
  isNew: boolean
  /** The stored key, which code still uses. */
  savedKey: string
  error: unknown
  keyProblem: string | undefined
  onChange: (change: Partial<Draft>) => void
}

/** Key, description and tags. */
export function Basics({ draft, isNew, savedKey, error, keyProblem, onChange }: Props) {
  const t = useMessages()
  return (
    <Stack gap="sm">
      <TextInput
        label={t.fields.key}
        description={isNew || draft.key === savedKey ? t.editor.keyHint : t.editor.keyRenamed(savedKey)}
        required
        withAsterisk={false}
        maxLength={400}
        data-autofocus={isNew || undefined}
        value={draft.key}
        error={fieldProblem(t, error, 'key') ?? keyProblem}
        onChange={event => onChange({ key: event.currentTarget.value })}
      />
      <Textarea
        label={t.fields.name}
        autosize
        minRows={1}
        value={draft.name}
        error={fieldProblem(t, error, 'name')}
        onChange={event => onChange({ name: event.currentTarget.value })}
      />
      <TagsInput
        label={t.fields.tags}
        value={draft.tags.filter(tag => typeof tag === 'string')}
        onChange={tags => onChange({ tags: [...tags, ...draft.tags.filter(tag => typeof tag !== 'string')] })}
        acceptValueOnBlur
      />
      {isNew && (
        <Switch
          color="green"
          label={t.editor.startOn}
          checked={draft.active}
          onChange={event => onChange({ active: event.currentTarget.checked })}
        />
      )}
    </Stack>
  )
}
