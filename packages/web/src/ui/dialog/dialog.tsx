import { Modal, type ModalProps } from '@mantine/core'
import { useEffect, useMemo } from 'react'
import { useMessages } from '../../i18n/language.tsx'

interface Props extends Pick<ModalProps, 'size' | 'children'> {
  title: string
  isOpen?: boolean
  onClose: () => void
}

/**
 * A modal dialog: it traps the focus, closes on Escape and restores the focus. Mount it on demand, or control it with
 * `isOpen`.
 */
export function Dialog({ title, isOpen = true, onClose, size, children }: Props) {
  const t = useMessages()
  useFocusReturn(isOpen)
  return (
    <Modal.Root opened={isOpen} onClose={onClose} returnFocus={false} size={size ?? 'md'}>
      <Modal.Overlay />
      {/* Mantine sets the accessible name only after the first render, which is too late for screen readers. */}
      <Modal.Content aria-label={title}>
        <Modal.Header>
          <Modal.Title>{title}</Modal.Title>
          <Modal.CloseButton aria-label={t.common.close} />
        </Modal.Header>
        <Modal.Body>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
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
