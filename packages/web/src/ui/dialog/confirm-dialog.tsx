import { Button, Group, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { ProblemAlert } from '../feedback/problems.tsx'
import { Dialog } from './dialog.tsx'

interface Props {
  title: string
  /** The confirmation question. */
  question: ReactNode
  /** The confirm button's label; the title by default. */
  label?: string
  cancelLabel?: string
  isOpen?: boolean
  isLoading?: boolean
  onConfirm: () => unknown
  onClose: () => void
}

/** Asks for confirmation. It stays open while the action runs and shows its error. */
export function ConfirmDialog(props: Props) {
  const { title, question, label = title, cancelLabel, isOpen, isLoading = false, onConfirm, onClose } = props
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
    <Dialog title={title} isLoading={isLoading} onClose={close} {...(isOpen !== undefined && { isOpen })}>
      <Stack>
        {typeof question === 'string' ? <Text>{question}</Text> : question}
        <ProblemAlert error={error} />
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
