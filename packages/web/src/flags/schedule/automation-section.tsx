import { Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'

interface Props {
  title: string
  intro: string
  error: unknown
  /** The existing entries. */
  children: ReactNode
  /** The form that adds one. */
  form: ReactNode
}

/** A section of the schedule tab: a list of automatic changes and the form that adds one. */
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
