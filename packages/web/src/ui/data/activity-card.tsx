import type { ActivityEntry } from '@halyard/contract'
import { Avatar, Group, Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { RelativeTime } from './relative-time.tsx'

/** Of the key that signing in to this page gives: who did it is said already. */
const signInLabel = 'Sign-in'

interface Props {
  entry: ActivityEntry
  /** What was done, after the name of who did it. */
  deed: ReactNode
  badge?: ReactNode
  /** What was before and after, if there is something to show. */
  children?: ReactNode
}

/** One entry of an activity: who did what, when and with which key. */
export function ActivityCard({ entry, deed, badge, children }: Props) {
  const t = useMessages()
  const { first_name: name, is_system: isSystem } = entry.user as { first_name?: string; is_system?: boolean }
  const who = isSystem || !name ? 'Halyard' : name
  return (
    <Paper withBorder p="md" radius="lg" component="article">
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Avatar size={28} radius="xl" color="initials" name={who} aria-hidden="true" />
        <div style={{ flex: 1, minWidth: 0 }}>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            <b>{who}</b> {deed}
          </Text>
          <Text size="xs" c="dimmed" mb={children ? 'sm' : 0}>
            <RelativeTime instant={entry.created_at} />
            {entry.through && entry.through !== signInLabel && ` · ${t.history.through(entry.through)}`}
          </Text>
        </div>
        {badge}
      </Group>
      {children}
    </Paper>
  )
}
