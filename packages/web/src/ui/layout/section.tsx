import { Group, Paper, Title } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  title: string
  /** A link to all of it. */
  action?: ReactNode
  children: ReactNode
}

/** A card with a heading. */
export function Section({ title, action, children }: Props) {
  return (
    <Paper withBorder p="md" radius="lg" component="section" aria-label={title}>
      <Group justify="space-between" align="baseline" gap="xs" mb="xs">
        <Title order={2}>{title}</Title>
        {action}
      </Group>
      {children}
    </Paper>
  )
}
