import { Button, Group, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import type { Wording } from '../flag-sentences.ts'
import { type Gate, openGate } from '../gate/gate.ts'
import type { SaveMode } from '../gate/save-mode.ts'
import { useSaveMode } from '../gate/use-save-mode.tsx'
import { ChangeList, type FieldChange } from '../history/change-list.tsx'

interface Props {
  title: string
  changes: readonly FieldChange[]
  wording: Wording
  /** What follows the diff, such as the impact. */
  children?: ReactNode
  label: string
  cancelLabel?: string
  /** People lose something: the button is red. */
  isDangerous?: boolean
  /** What stands between the change and its save. */
  gate?: Gate
  /** Something else of the content is still unknown. */
  isLoading?: boolean
  /** Throws when it fails; the dialog stays open and shows the error. */
  onConfirm: (mode: SaveMode) => Promise<unknown>
  onClose: () => void
}

/** Every change of a live flag passes through here: the diff, the impact, then the confirmation. */
export function ReviewDialog(props: Props) {
  const {
    title,
    changes,
    wording,
    children,
    label,
    cancelLabel,
    isDangerous = false,
    gate = openGate,
    isLoading = false,
    onConfirm,
    onClose,
  } = props
  const t = useMessages()
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setIsBusy] = useState(false)
  const save = useSaveMode(gate)
  const confirm = async () => {
    setIsBusy(true)
    setError(null)
    try {
      await onConfirm(save.mode)
      onClose()
    } catch (problem) {
      setError(problem)
    }
    setIsBusy(false)
  }
  return (
    <Dialog size="lg" title={title} isLoading={isLoading || gate.kind === 'loading'} onClose={onClose}>
      <Stack>
        {changes.length === 0 ? <Text>{t.editor.noChanges}</Text> : <ChangeList changes={changes} wording={wording} />}
        {children}
        {save.fields}
        <ProblemAlert error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {cancelLabel ?? t.common.cancel}
          </Button>
          <Button
            data-autofocus
            {...((isDangerous || save.isEmergency) && { color: 'red' })}
            disabled={save.isBlocked}
            loading={isBusy}
            onClick={confirm}
          >
            {save.label ?? label}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
