import { ActionIcon, Anchor, Group, Popover, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { QuestionIcon } from '../icons.tsx'

interface Props {
  /** The label of the field. */
  label: string
  help: string
  /** The page of the documentation, with its anchor. */
  docs: `/docs/${string}`
  children: ReactNode
}

/** A field with a button beside it that explains it. */
export function WithHelp({ label, help, docs, children }: Props) {
  const t = useMessages()
  return (
    <Group gap="xs" align="flex-end" wrap="nowrap">
      {children}
      <Popover width="min(22rem, 90vw)" position="bottom-end" withArrow trapFocus returnFocus>
        <Popover.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.common.helpFor(label)}>
            <QuestionIcon size={18} />
          </ActionIcon>
        </Popover.Target>
        <Popover.Dropdown>
          <Stack gap="xs">
            <Text size="sm">{help}</Text>
            {/* In a tab of its own: the edit stays. */}
            <Anchor href={docs} target="_blank" rel="noreferrer" size="sm" underline="always">
              {t.common.learnMore}
            </Anchor>
          </Stack>
        </Popover.Dropdown>
      </Popover>
    </Group>
  )
}
