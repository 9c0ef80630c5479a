import { Alert, Button, Group, Text } from '@mantine/core'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { problemText } from '../../ui/feedback/problem-text.ts'
import { useReconnected } from '../../ui/feedback/problems.tsx'
import type { Gate } from '../gate/gate.ts'
import classes from './editor.module.css'

interface Props {
  isNew: boolean
  isSaving: boolean
  gate: Gate
  status: string
  /** The error of the last attempt, unless a field shows it. */
  error: unknown
  onDiscard: () => void
  onSave: () => void
}

/** Visible while there are unsaved changes. Errors stand next to the button that was pressed. */
export function SaveBar({ isNew, isSaving, gate, status, error, onDiscard, onSave }: Props) {
  const t = useMessages()
  const { moment } = useFormats()
  const isOver = useReconnected(error)
  const label =
    gate.kind === 'approval'
      ? t.gate.request
      : gate.kind === 'frozen'
        ? t.freezes.frozenUntil(moment(gate.until))
        : isNew
          ? t.editor.createFlag
          : t.editor.review
  return (
    <div className={classes.savebar} data-bottom-bar>
      {error !== null && error !== undefined && !isOver && (
        <Alert color="red" role="alert" mb="xs" py="xs">
          {problemText(t, error)}
        </Alert>
      )}
      <Group justify="flex-end">
        <Text size="sm" c="dimmed" flex={1} role="status">
          {status}
        </Text>
        {!isNew && (
          <Button variant="default" onClick={onDiscard}>
            {t.editor.discard}
          </Button>
        )}
        <Button onClick={onSave} loading={isSaving}>
          {label}
        </Button>
      </Group>
    </div>
  )
}
