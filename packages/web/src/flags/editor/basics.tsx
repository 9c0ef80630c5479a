import { Button, Stack, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useRef, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx'
import { fieldProblem } from '../../ui/feedback/problem-text.ts'
import { useFirstFocus } from '../../ui/layout/visibility-context.ts'
import type { Draft } from './draft.ts'
import classes from './editor.module.css'
import { isValidKey, suggestKey } from './flag-key.ts'

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
export function Basics(props: Props) {
  const { draft, error, onChange } = props
  const t = useMessages()
  return (
    <Stack gap="sm">
      <KeyField {...props} />
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
        error={fieldProblem(t, error, 'tags')}
        onChange={tags => onChange({ tags: [...tags, ...draft.tags.filter(tag => typeof tag !== 'string')] })}
        acceptValueOnBlur
      />
      {props.isNew && (
        <Switch
          color="green"
          label={t.editor.startOn}
          description={t.editor.startOnHint}
          checked={draft.active}
          onChange={event => onChange({ active: event.currentTarget.checked })}
        />
      )}
    </Stack>
  )
}

/** Renaming breaks code that uses the key, so an existing key is read-only until that is confirmed. */
function KeyField({ draft, isNew, savedKey, error, keyProblem, onChange }: Props) {
  const t = useMessages()
  const [isUnlocked, setIsUnlocked] = useState(isNew || draft.key !== savedKey)
  const [isAsking, setIsAsking] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  useFirstFocus(field, isNew)
  const isRenamed = !isNew && draft.key !== savedKey
  const suggestion = isValidKey(draft.key) || draft.key === savedKey ? undefined : suggestKey(draft.key)
  return (
    <Stack gap={4}>
      <TextInput
        label={t.fields.key}
        description={isRenamed ? t.editor.keyRenamed(savedKey) : t.editor.keyHint}
        maxLength={400}
        autoComplete="off"
        spellCheck={false}
        ref={field}
        readOnly={!isUnlocked}
        value={draft.key}
        error={fieldProblem(t, error, 'key') ?? keyProblem}
        onChange={event => onChange({ key: event.currentTarget.value })}
      />
      {!isUnlocked && (
        <Button variant="subtle" size="compact-xs" className={classes.add as string} onClick={() => setIsAsking(true)}>
          {t.editor.renameKey}
        </Button>
      )}
      <ConfirmDialog
        isOpen={isAsking}
        question={t.editor.renameKeyQuestion(savedKey)}
        label={t.editor.renameKey}
        detail={t.editor.keyRenamed(savedKey)}
        onConfirm={() => setIsUnlocked(true)}
        onClose={() => setIsAsking(false)}
      />
      {suggestion && (
        <Button
          variant="light"
          size="compact-xs"
          className={classes.add as string}
          onClick={() => onChange({ key: suggestion })}
        >
          {t.editor.acceptKey(suggestion)}
        </Button>
      )}
    </Stack>
  )
}
