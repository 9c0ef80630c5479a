import { Button, Group, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { ProblemAlert } from '../feedback/problems.tsx'
import { Dialog } from './dialog.tsx'

interface Props {
  /** The title: a question that names the subject. */
  question: string
  /** What follows from it, and fields. */
  detail?: ReactNode
  /** The confirm button's label: the verb of the question. */
  label: string
  cancelLabel?: string
  isOpen?: boolean
  isLoading?: boolean
  onConfirm: () => unknown
  onClose: () => void
}

/** Asks for confirmation. It stays open while the action runs and shows its error. */
export function ConfirmDialog(props: Props) {
  const { question, detail, label, cancelLabel, isOpen, isLoading = false, onConfirm, onClose } = props
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
    <Dialog title={question} isLoading={isLoading} onClose={close} {...(isOpen !== undefined && { isOpen })}>
      <Stack>
        {typeof detail === 'string' ? <Text>{detail}</Text> : detail}
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
