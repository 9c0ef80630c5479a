import { Center, Code, Stack, Text } from '@mantine/core'
import type { ComponentType, ReactNode } from 'react'
import classes from './empty-state.module.css'

interface Props {
  /** The one of the page in the navigation. */
  Icon?: ComponentType<{ size?: number }>
  title: string
  /** What the list is for, and how to fill it. */
  text: string
  /** A snippet to paste. */
  code?: string
  children?: ReactNode
}

/** Replaces an empty list: what it would hold and what to do first. */
export function EmptyState({ Icon, title, text, code, children }: Props) {
  return (
    <Center mih={220} py="xl">
      <Stack align="center" gap="sm" w="100%" maw={560} miw={0}>
        {Icon && (
          <span className={classes.icon}>
            <Icon size={24} />
          </span>
        )}
        <Text ta="center" fw={600}>
          {title}
        </Text>
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
