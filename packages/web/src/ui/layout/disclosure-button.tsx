import { Button, VisuallyHidden } from '@mantine/core'
import { ChevronIcon } from '../icons.tsx'

interface Props {
  label: string
  /** What the label is about, for screen readers. */
  of?: string
  isOpen: boolean
  onToggle: () => void
}

/** Toggles the content after it; aligned with the surrounding text. */
export function DisclosureButton({ label, of, isOpen, onToggle }: Props) {
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-sm"
      ml="calc(-0.5 * var(--mantine-spacing-md))"
      rightSection={
        <span style={{ display: 'flex', transform: isOpen ? 'rotate(180deg)' : undefined }}>
          <ChevronIcon size={14} />
        </span>
      }
      aria-expanded={isOpen}
      onClick={onToggle}
    >
      {label}
      {of !== undefined && <VisuallyHidden>: {of}</VisuallyHidden>}
    </Button>
  )
}
