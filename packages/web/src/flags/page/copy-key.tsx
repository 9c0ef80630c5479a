import { ActionIcon, CopyButton, Tooltip } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import { Copied } from '../../ui/data/copy-button.tsx'
import { CheckIcon, CopyIcon } from '../../ui/icons.tsx'

export function CopyKey({ flagKey }: { flagKey: string }) {
  const t = useMessages()
  return (
    <CopyButton value={flagKey}>
      {({ copied, copy }) => (
        <>
          <Tooltip label={copied ? t.common.copied : t.flags.copyKey}>
            <ActionIcon
              variant="subtle"
              color="gray"
              size="lg"
              aria-label={copied ? t.common.copied : t.flags.copyKey}
              onClick={copy}
            >
              {copied ? <CheckIcon size={16} /> : <CopyIcon size={16} />}
            </ActionIcon>
          </Tooltip>
          <Copied isCopied={copied} />
        </>
      )}
    </CopyButton>
  )
}
