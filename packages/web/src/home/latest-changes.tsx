import type { HomeChange } from '@halyard/contract'
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { TimelineEntry } from '../change-control/requests/timeline-entry.tsx'
import { useMessages } from '../i18n/language.tsx'
import { Section } from '../ui/layout/section.tsx'
import classes from './home.module.css'

/** What is derived, and what the verb says already. */
const unnamedFields = new Set(['version', 'rollout_percentage', 'is_simple_flag', 'updated_at', 'active', 'deleted'])

/** The last changes of flags with the people who made them. */
export function LatestChanges({ projectId, changes }: { projectId: string; changes: readonly HomeChange[] }) {
  const t = useMessages()
  return (
    <Section
      title={t.home.latest}
      action={
        <Link to="/project/$projectId/activity" params={{ projectId }} className={classes.all as string}>
          {t.home.allActivity}
        </Link>
      }
    >
      {changes.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t.history.empty}
        </Text>
      ) : (
        <ul className={classes.items}>
          {changes.map(change => (
            <li key={change.id}>
              <Change projectId={projectId} change={change} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

function Change({ projectId, change }: { projectId: string; change: HomeChange }) {
  const t = useMessages()
  const { activity, flag_id: flagId, name, fields, active, by, at } = change
  const verbs: Record<string, string> = t.history.verbs
  const names: Record<string, string> = t.fields
  const isSwitched = activity === 'updated' && active !== null
  const verb = isSwitched ? (active ? t.home.turnedOn : t.home.turnedOff) : (verbs[activity] ?? activity)
  const shown = activity === 'updated' ? fields.filter(field => !unnamedFields.has(field)) : []
  return (
    <TimelineEntry
      who={by}
      what={
        <>
          {verb}{' '}
          <Link to="/project/$projectId/flags/$flagId" params={{ projectId, flagId }} search={{ tab: 'history' }}>
            {name}
          </Link>
        </>
      }
      at={at}
    >
      {shown.length > 0 && (
        <Text size="xs" c="dimmed">
          {shown.map(field => names[field] ?? field).join(', ')}
        </Text>
      )}
    </TimelineEntry>
  )
}
