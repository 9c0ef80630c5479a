import type { ActivityEntry } from '@halyard/contract'
import { Avatar, Group, Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import classes from './activity-card.module.css'
import { RelativeTime } from './relative-time.tsx'

/** The label of the key that signing in creates; the user's name is already shown. */
const signInLabel = 'Sign-in'

interface Props {
  entry: ActivityEntry
  /** The action, after the user's name. */
  action: ReactNode
  badge?: ReactNode
  /** The diff, if there is one. */
  children?: ReactNode
}

/** One activity entry: who did what, when and with which key. */
export function ActivityCard({ entry, action, badge, children }: Props) {
  const t = useMessages()
  const { first_name: name, is_system: isSystem } = entry.user as { first_name?: string; is_system?: boolean }
  const who = isSystem || !name ? 'Halyard' : name
  return (
    <Paper withBorder p="md" radius="lg" component="article">
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Avatar size={28} radius="xl" color="initials" name={who} aria-hidden="true" />
        <div style={{ flex: 1, minWidth: 0 }}>
          {/* On a phone, links on lines below each other have 24 px each. */}
          <Text size="sm" lh={{ base: '1.5rem', sm: 'sm' }} style={{ overflowWrap: 'anywhere' }}>
            <b>{who}</b> {action}
          </Text>
          <Text size="xs" c="dimmed">
            <RelativeTime instant={entry.created_at} />
            {entry.through && entry.through !== signInLabel && ` · ${t.history.through(entry.through)}`}
          </Text>
        </div>
        {badge}
      </Group>
      <div className={classes.detail}>{children}</div>
    </Paper>
  )
}
