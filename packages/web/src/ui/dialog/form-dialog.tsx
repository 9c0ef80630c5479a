import { Button, Group, type ModalProps, Stack } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { ProblemAlert } from '../feedback/problems.tsx'
import { Dialog } from './dialog.tsx'
import classes from './form-dialog.module.css'

interface Props extends Pick<ModalProps, 'size'> {
  title: string
  /** The submit button's label. */
  label: string
  error?: unknown
  isBusy?: boolean
  children: ReactNode
  onSubmit: () => unknown
  onClose: () => void
}

/** A dialog with one form: its fields, what went wrong, cancel and submit. */
export function FormDialog({ title, label, error, isBusy = false, children, onSubmit, onClose, size }: Props) {
  const t = useMessages()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSubmit()
  }
  return (
    <Dialog size={size ?? 'md'} title={title} onClose={onClose}>
      <form onSubmit={submit} className={classes.form}>
        <Stack>
          {children}
          <ProblemAlert error={error ?? null} />
          <Group justify="flex-end" className={classes.foot as string}>
            <Button variant="default" onClick={onClose}>
              {t.common.cancel}
            </Button>
            <Button type="submit" loading={isBusy}>
              {label}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
