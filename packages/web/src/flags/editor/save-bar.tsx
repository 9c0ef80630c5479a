import { Button, Group, Text } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import classes from './editor.module.css'

interface Props {
  isNew: boolean
  isSaving: boolean
  status: string
  onDiscard: () => void
  onSave: () => void
}

/** Visible while there are unsaved changes. */
export function SaveBar({ isNew, isSaving, status, onDiscard, onSave }: Props) {
  const t = useMessages()
  return (
    <Group className={classes.savebar as string} justify="flex-end">
      <Text size="sm" c="dimmed" flex={1} role="status">
        {status}
      </Text>
      {!isNew && (
        <Button variant="default" onClick={onDiscard}>
          {t.editor.discard}
        </Button>
      )}
      <Button onClick={onSave} loading={isSaving}>
        {isNew ? t.editor.createFlag : t.editor.review}
      </Button>
    </Group>
  )
}
