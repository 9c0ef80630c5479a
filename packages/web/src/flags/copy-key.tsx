import { ActionIcon, CopyButton, Tooltip } from '@mantine/core'
import { Copied } from '../app/copy-text.tsx'
import { CheckIcon, CopyIcon } from '../app/icons.tsx'
import { useMessages } from '../messages/language.tsx'

/** The key is what goes into code and messages. */
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
          <Copied isSaid={copied} />
        </>
      )}
    </CopyButton>
  )
}
