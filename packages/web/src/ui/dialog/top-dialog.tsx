import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { createPortal } from 'react-dom'
import classes from './top-dialog.module.css'

interface Props {
  label: string
  /** Without it, Escape and a click outside do nothing. */
  onClose?: () => void
  children: ReactNode
}

/**
 * A native modal dialog in the top layer. It opens in the same event that mounts it, and everything behind it is inert:
 * no key or click can reach the page in between.
 */
export function TopDialog({ label, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const { current } = dialog
    current?.showModal()
    current?.querySelector<HTMLElement>('[data-autofocus]')?.focus()
    // Closing returns the focus to where it was.
    return () => current?.close()
  }, [])
  return createPortal(
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it too.
    <dialog
      ref={dialog}
      aria-label={label}
      className={classes.dialog}
      onCancel={event => {
        event.preventDefault()
        onClose?.()
      }}
      onClick={event => event.target === event.currentTarget && onClose?.()}
    >
      <div className={classes.body}>{children}</div>
    </dialog>,
    document.body,
  )
}
