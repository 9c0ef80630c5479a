import { Modal, type ModalProps } from '@mantine/core'
import { useEffect, useMemo } from 'react'
import { useMessages } from '../../i18n/language.tsx'

interface Props extends Pick<ModalProps, 'size' | 'children'> {
  title: string
  isOpen?: boolean
  onClose: () => void
}

/**
 * Something that must be settled before the page goes on: the focus stays inside, Escape closes, and afterwards the focus is
 * where it was. Mount it when it is wanted, or keep it with `isOpen`.
 */
export function Dialog({ title, isOpen = true, onClose, size, children }: Props) {
  const t = useMessages()
  useFocusReturn(isOpen)
  return (
    <Modal.Root opened={isOpen} onClose={onClose} returnFocus={false} size={size ?? 'md'}>
      <Modal.Overlay />
      {/* Its title becomes its name only after it has been drawn; a screen reader is there before. */}
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

/** The opener is looked up while it is drawn: the item of a menu is gone a moment later, and its button stands in for it. */
function useFocusReturn(isOpen: boolean): void {
  const opener = useMemo(() => (isOpen ? openerOf(document.activeElement) : null), [isOpen])
  useEffect(() => () => opener?.focus({ preventScroll: true }), [opener])
}

function openerOf(active: Element | null): HTMLElement | null {
  const button = document.getElementById(active?.closest('[role="menu"]')?.getAttribute('aria-labelledby') ?? '')
  return button ?? (active instanceof HTMLElement ? active : null)
}
