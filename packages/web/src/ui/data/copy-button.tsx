import { Button, CopyButton, VisuallyHidden } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'

interface Props {
  value: string
  /** The label; "Copy" by default. */
  label?: string
  /** What is copied, for screen readers where several such buttons are listed. */
  of?: string
}

/** Copies text to the clipboard and announces it to screen readers. */
export function CopyTextButton({ value, label, of }: Props) {
  const t = useMessages()
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <>
          <Button size="compact-sm" variant="default" onClick={copy}>
            {copied ? t.common.copied : (label ?? t.common.copy)}
            {of && <VisuallyHidden>: {of}</VisuallyHidden>}
          </Button>
          <Copied isCopied={copied} />
        </>
      )}
    </CopyButton>
  )
}

/** The announcement alone, for icon buttons. */
export function Copied({ isCopied }: { isCopied: boolean }) {
  const t = useMessages()
  return <VisuallyHidden role="status">{isCopied ? t.common.copied : ''}</VisuallyHidden>
}
