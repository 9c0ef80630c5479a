import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import { useMessages } from '../messages/language.tsx'
import { ProblemAlert } from './problems.tsx'

interface Props extends ButtonProps {
  /** What will happen, as a question. */
  question: string
  label: string
  children?: ReactNode
  onConfirm: () => Promise<unknown>
}

/** A button for what cannot be undone: it asks first, and shows why it did not work. */
export function ConfirmButton({ question, label, children, onConfirm, ...button }: Props) {
  const t = useMessages()
  const [isOpen, { open, close }] = useDisclosure(false)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setIsBusy] = useState(false)
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
    <>
      <Button variant="subtle" color="red" size="compact-sm" {...button} onClick={open}>
        {children ?? label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={label} closeButtonProps={{ 'aria-label': t.common.close }}>
        <Stack>
          <ProblemAlert error={error} />
          <Text>{question}</Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t.common.cancel}
            </Button>
            <Button color="red" data-autofocus loading={isBusy} onClick={confirm}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
