import type { HomeRequest, ProjectHome } from '@halyard/contract'
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { RequestState } from '../change-control/requests/request-state.tsx'
import { TimelineEntry } from '../change-control/requests/timeline-entry.tsx'
import { useMessages } from '../i18n/language.tsx'
import { Section } from '../ui/layout/section.tsx'
import classes from './home.module.css'

/** Requests to decide, and own requests in conflict. */
export function Waiting({ projectId, home }: { projectId: string; home: ProjectHome }) {
  const t = useMessages()
  const { waiting, conflicts } = home
  const shown = [...conflicts.results, ...waiting.results]
  return (
    <Section
      title={t.requests.inbox}
      action={
        <Link to="/project/$projectId/requests" params={{ projectId }} className={classes.all as string}>
          {t.home.allRequests}
        </Link>
      }
    >
      {shown.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t.requests.inboxEmpty}
        </Text>
      ) : (
        <ul className={classes.items}>
          {shown.map(request => (
            <li key={request.id}>
              <Request projectId={projectId} request={request} />
            </li>
          ))}
        </ul>
      )}
      <More count={waiting.count + conflicts.count - shown.length} />
    </Section>
  )
}

function Request({ projectId, request }: { projectId: string; request: HomeRequest }) {
  const t = useMessages()
  const { id, title, state, created_by, created_at } = request
  const isConflict = state === 'conflicted'
  return (
    <TimelineEntry
      who={created_by}
      what={t.requests.didOpen}
      at={created_at}
      actions={isConflict && <RequestState state={state} isEmergency={false} />}
    >
      <Link to="/project/$projectId/requests/$requestId" params={{ projectId, requestId: String(id) }}>
        {title}
      </Link>
    </TimelineEntry>
  )
}

/** How many a card does not show. */
export function More({ count }: { count: number }) {
  const t = useMessages()
  if (count <= 0) return null
  return (
    <Text size="sm" c="dimmed" mt="xs">
      {t.home.more(count)}
    </Text>
  )
}
