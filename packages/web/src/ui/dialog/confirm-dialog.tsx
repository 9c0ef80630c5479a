import { Button, Group, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { ProblemAlert } from '../feedback/problems.tsx'
import { Dialog } from './dialog.tsx'

interface Props {
  title: string
  /** What will happen, as a question. */
  question: ReactNode
  /** What the button that does it says; the title when absent. */
  label?: string
  cancelLabel?: string
  isOpen?: boolean
  onConfirm: () => unknown
  onClose: () => void
}

/** Asks before what is hard to take back. It stays open while that is under way, and shows why it did not work. */
export function ConfirmDialog({ title, question, label = title, cancelLabel, isOpen, onConfirm, onClose }: Props) {
  const t = useMessages()
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setIsBusy] = useState(false)
  const close = () => {
    setError(null)
    onClose()
  }
  const confirm = async () => {
    setIsBusy(true)
    setError(null)
    try {
      await onConfirm()
      close()
    } catch (problem) {
      setError(problem)
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <Dialog title={title} onClose={close} {...(isOpen !== undefined && { isOpen })}>
      <Stack>
        <ProblemAlert error={error} />
        {typeof question === 'string' ? <Text>{question}</Text> : question}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {cancelLabel ?? t.common.cancel}
          </Button>
          <Button color="red" data-autofocus loading={isBusy} onClick={confirm}>
            {label}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
