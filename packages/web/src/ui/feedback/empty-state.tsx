import { Center, Code, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  title: string
  /** What this is for, and how there comes to be something here. */
  text: string
  /** Ready to paste. */
  code?: string
  children?: ReactNode
}

/** In place of an empty list: says what would be in it and what to do first. */
export function EmptyState({ title, text, code, children }: Props) {
  return (
    <Center mih={220} py="xl">
      <Stack align="center" gap="sm" w="100%" maw={560} miw={0}>
        <Text fw={600}>{title}</Text>
        <Text ta="center" c="dimmed" size="sm">
          {text}
        </Text>
        {code !== undefined && (
          <Code block tabIndex={0} role="group" aria-label={title} maw="100%">
            {code}
          </Code>
        )}
        {children}
      </Stack>
    </Center>
  )
}
