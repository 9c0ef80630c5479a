import { Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'

interface Props {
  title: string
  intro: string
  error: unknown
  /** What is set already. */
  children: ReactNode
  /** To set something more. */
  form: ReactNode
}

/** One kind of thing that the flag does by itself. */
export function AutomationSection({ title, intro, error, children, form }: Props) {
  return (
    <Stack gap="sm" role="group" aria-label={title}>
      <div>
        <Title order={2}>{title}</Title>
        <Text size="sm" c="dimmed">
          {intro}
        </Text>
      </div>
      <ProblemAlert error={error} />
      {children}
      {form}
    </Stack>
  )
}
