import { Modal, type ModalProps } from '@mantine/core'
import { useEffect, useMemo, useRef } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { Loading } from '../feedback/problems.tsx'

interface Props extends Pick<ModalProps, 'size' | 'children'> {
  title: string
  isOpen?: boolean
  /** The content is shown when all of it is known: its buttons never move away from the pointer. */
  isLoading?: boolean
  onClose: () => void
}

/**
 * A modal dialog: it traps the focus, closes on Escape and restores the focus. Mount it on demand, or control it with
 * `isOpen`.
 */
export function Dialog({ title, isOpen = true, isLoading = false, onClose, size, children }: Props) {
  const t = useMessages()
  useFocusReturn(isOpen)
  const body = useLateFocus(isLoading)
  // Behind the command palette only Escape arrives here, and it closes the palette alone.
  const close = () => {
    if (!document.querySelector('dialog[open]')) onClose()
  }
  return (
    <Modal.Root opened={isOpen} onClose={close} returnFocus={false} size={size ?? 'md'}>
      <Modal.Overlay />
      {/* Mantine sets the accessible name only after the first render, which is too late for screen readers. */}
      <Modal.Content aria-label={title}>
        <Modal.Header>
          <Modal.Title fw={600} lh={1.3} style={{ overflowWrap: 'anywhere' }}>
            {title}
          </Modal.Title>
          <Modal.CloseButton aria-label={t.common.close} />
        </Modal.Header>
        <Modal.Body ref={body}>{isLoading ? <Loading /> : children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

/** Moves the focus into content that is shown after the dialog was opened. */
function useLateFocus(isLoading: boolean) {
  const body = useRef<HTMLDivElement>(null)
  const wasLoading = useRef(isLoading)
  useEffect(() => {
    if (wasLoading.current && !isLoading) body.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus()
    wasLoading.current = isLoading
  }, [isLoading])
  return body
}

/**
 * The opener is captured during render: a menu item is unmounted right after, so its menu button stands in for it.
 */
function useFocusReturn(isOpen: boolean): void {
  const opener = useMemo(() => (isOpen ? openerOf(document.activeElement) : null), [isOpen])
  useEffect(() => () => opener?.focus({ preventScroll: true }), [opener])
}

function openerOf(active: Element | null): HTMLElement | null {
  const button = document.getElementById(active?.closest('[role="menu"]')?.getAttribute('aria-labelledby') ?? '')
  return button ?? (active instanceof HTMLElement ? active : null)
}
