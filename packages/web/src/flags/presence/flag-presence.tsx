import type { FlagPresence as Present } from '@halyard/contract'
import { Avatar, Group, Text, VisuallyHidden } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import classes from './flag-presence.module.css'
import { usePresence } from './use-presence.ts'

const shownMax = 3

interface Props {
  projectId: string
  flagId: number
  isEditing: boolean
}

/** Who else has the flag open. The region stays, so that screen readers announce who comes. */
export function FlagPresence({ projectId, flagId, isEditing }: Props) {
  const t = useMessages()
  const { count, results } = usePresence(projectId, flagId, isEditing)
  const shown = results.slice(0, shownMax)
  const [first] = shown
  return (
    <div role="status" className={classes.region}>
      {first && (
        <Group gap="xs" wrap="nowrap">
          <Avatar.Group spacing="xs">
            {shown.map(person => (
              <PersonAvatar key={person.user.uuid} person={person} />
            ))}
          </Avatar.Group>
          {count > shown.length && (
            <Text size="sm" c="dimmed">
              <span aria-hidden="true">+{count - shown.length}</span>
              <VisuallyHidden>{t.presence.more(count - shown.length)}</VisuallyHidden>
            </Text>
          )}
          {first.is_editing && (
            <Text size="sm" c="dimmed" aria-hidden="true">
              {t.presence.editing(nameOf(first))}
            </Text>
          )}
        </Group>
      )}
    </div>
  )
}

type Person = Present['results'][number]

const nameOf = ({ user }: Person): string => user.first_name || user.email

function PersonAvatar({ person }: { person: Person }) {
  const t = useMessages()
  const name = nameOf(person)
  const text = person.is_editing ? t.presence.editing(name) : t.presence.viewing(name)
  return (
    <span title={text}>
      <Avatar
        size={28}
        radius="xl"
        color="initials"
        name={name}
        aria-hidden="true"
        data-editing={person.is_editing || undefined}
        className={classes.person as string}
      />
      <VisuallyHidden>{text}</VisuallyHidden>
    </span>
  )
}
