import { Button, type ButtonProps, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { useNotify } from '../feedback/notify.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'

interface Props extends ButtonProps {
  /** The title of the dialog: a question that names the subject. */
  question: string
  /** What follows from it. */
  detail?: ReactNode
  label: string
  cancelLabel?: string
  /** The subject, for screen readers where several such buttons are listed. */
  of?: string
  children?: ReactNode
  /** The success message. */
  done: string
  onConfirm: () => Promise<unknown>
  /** Offers undo with the success message. */
  onUndo?: (() => unknown) | undefined
}

/** A button that asks for confirmation. */
export function ConfirmButton(props: Props) {
  const { question, detail, label, cancelLabel, of, children, done, onConfirm, onUndo, ...button } = props
  const notify = useNotify()
  const confirm = async () => {
    await onConfirm()
    notify.success({ message: done, ...(onUndo && { onUndo }) })
  }
  const [isOpen, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button variant="subtle" color="red" size="compact-sm" {...button} onClick={open}>
        {children ?? label}
        {of && <VisuallyHidden>: {of}</VisuallyHidden>}
      </Button>
      <ConfirmDialog
        question={question}
        detail={detail}
        label={label}
        {...(cancelLabel !== undefined && { cancelLabel })}
        isOpen={isOpen}
        onConfirm={confirm}
        onClose={close}
      />
    </>
  )
}
