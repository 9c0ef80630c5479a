import { Avatar, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import classes from './request-page.module.css'

interface Person {
  readonly first_name: string
  readonly email: string
}

interface Props {
  /** Null for what Halyard did; undefined where it does not matter. */
  who: Person | null | undefined
  what: ReactNode
  at: string
  note?: string
  actions?: ReactNode
  children?: ReactNode
}

/** Who did what, and when. */
export function TimelineEntry({ who, what, at, note = '', actions, children }: Props) {
  const name = who ? who.first_name || who.email : 'Halyard'
  return (
    <div className={classes.entry}>
      <Avatar size={28} radius="xl" color="initials" name={name} aria-hidden="true" />
      <div className={classes.text}>
        <Group justify="space-between" align="flex-start" wrap="nowrap" gap="xs">
          <Text size="sm">
            {who !== undefined && <b>{name} </b>}
            {what}{' '}
            <Text span size="xs" c="dimmed">
              <RelativeTime instant={at} /> {note}
            </Text>
          </Text>
          {actions && (
            <Group gap={4} wrap="nowrap">
              {actions}
            </Group>
          )}
        </Group>
        {children}
      </div>
    </div>
  )
}
