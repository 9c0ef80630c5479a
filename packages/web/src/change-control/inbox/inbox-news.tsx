import { type Inbox, routes } from '@halyard/contract'
import { Badge, Text } from '@mantine/core'
import { useDocumentVisibility } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { Section } from '../../ui/layout/section.tsx'
import { TimelineEntry } from '../requests/timeline-entry.tsx'
import classes from './inbox-news.module.css'
import { inboxKey, useInbox } from './use-inbox.ts'

interface Props {
  projectId: string
  /** Leaves older items out. */
  itemsMax?: number
}

/** What others did with the user's requests, newest first. */
export function InboxNews({ projectId, itemsMax = 50 }: Props) {
  const t = useMessages()
  const { data } = useInbox(projectId)
  // What is left out stays unread.
  useMarkSeen(projectId, data && data.unread > itemsMax ? undefined : data)
  if (!data || data.results.length === 0) return null
  return (
    <Section title={t.inbox.title}>
      <ul className={classes.items}>
        {data.results.slice(0, itemsMax).map(({ kind, at, by, request_id, title, text, is_unread }) => (
          <li key={`${kind} ${request_id} ${at}`}>
            <TimelineEntry
              who={by}
              what={t.inbox.news[kind] ?? kind}
              at={at}
              actions={is_unread && <Badge variant="light">{t.inbox.unread}</Badge>}
            >
              <Link
                to="/project/$projectId/requests/$requestId"
                params={{ projectId, requestId: String(request_id) }}
                className={classes.link as string}
              >
                {title}
              </Link>
              {text !== '' && (
                <Text size="sm" c="dimmed" lineClamp={2} style={{ whiteSpace: 'pre-wrap' }}>
                  {text}
                </Text>
              )}
            </TimelineEntry>
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** Items that are shown are read. They stay marked until the list is loaded again. */
function useMarkSeen(projectId: string, inbox: Inbox | undefined): void {
  const call = useCall()
  const queries = useQueryClient()
  const isVisible = useDocumentVisibility() === 'visible'
  const until = inbox && inbox.unread > 0 ? inbox.results[0]?.at : undefined
  useEffect(() => {
    if (until === undefined || !isVisible) return
    call(routes.inbox.markSeen, { params: { project_id: projectId }, body: { until } })
      .then(() =>
        queries.setQueryData<Inbox>(inboxKey(projectId), old => old && { ...old, unread: 0, seen_until: until }),
      )
      // They stay unread.
      .catch(() => {})
  }, [call, queries, projectId, until, isVisible])
}
