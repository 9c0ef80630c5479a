import { Button, type ButtonProps, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { useNotify } from '../feedback/notify.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'

interface Props extends ButtonProps {
  /** What will happen, as a question. */
  question: string
  label: string
  /** Whom or what it is about, where many such buttons stand below each other. */
  of?: string
  children?: ReactNode
  /** Told when it has been done, since what was there is gone then. */
  done: string
  onConfirm: () => Promise<unknown>
}

/** A button for what cannot be undone: it asks first. */
export function ConfirmButton({ question, label, of, children, done, onConfirm, ...button }: Props) {
  const notify = useNotify()
  const confirm = async () => {
    await onConfirm()
    notify.tell({ message: done })
  }
  const [isOpen, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button variant="subtle" color="red" size="compact-sm" {...button} onClick={open}>
        {children ?? label}
        {of && <VisuallyHidden>: {of}</VisuallyHidden>}
      </Button>
      <ConfirmDialog title={label} question={question} isOpen={isOpen} onConfirm={confirm} onClose={close} />
    </>
  )
}
