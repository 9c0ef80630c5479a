import { Button, CopyButton, VisuallyHidden } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'

interface Props {
  value: string
  /** What the button says; usually that it copies. */
  label?: string
  /** What is copied, where many such buttons stand below each other. */
  of?: string
}

/** Puts a text into the clipboard, and says so to those who cannot see the button change as well. */
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
          <Copied isSaid={copied} />
        </>
      )}
    </CopyButton>
  )
}

/** For buttons that show a picture only. */
export function Copied({ isSaid }: { isSaid: boolean }) {
  const t = useMessages()
  return <VisuallyHidden role="status">{isSaid ? t.common.copied : ''}</VisuallyHidden>
}
