import { Button, Group, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import type { Wording } from '../flag-sentences.ts'
import { ChangeList, type FieldChange } from '../history/change-list.tsx'

interface Props {
  title: string
  changes: readonly FieldChange[]
  wording: Wording
  /** What follows the diff, such as the impact. */
  children?: ReactNode
  label: string
  cancelLabel?: string
  /** Throws when it fails; the dialog stays open and shows the error. */
  onConfirm: () => Promise<unknown>
  onClose: () => void
}

/** Every change of a live flag passes through here: the diff, the impact, then the confirmation. */
export function ReviewDialog(props: Props) {
  const { title, changes, wording, children, label, cancelLabel, onConfirm, onClose } = props
  const t = useMessages()
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setIsBusy] = useState(false)
  const confirm = async () => {
    setIsBusy(true)
    setError(null)
    try {
      await onConfirm()
      onClose()
    } catch (problem) {
      setError(problem)
    }
    setIsBusy(false)
  }
  return (
    <Dialog size="lg" title={title} onClose={onClose}>
      <Stack>
        {changes.length === 0 ? <Text>{t.editor.noChanges}</Text> : <ChangeList changes={changes} wording={wording} />}
        {children}
        <ProblemAlert error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {cancelLabel ?? t.common.cancel}
          </Button>
          <Button data-autofocus loading={isBusy} onClick={confirm}>
            {label}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
