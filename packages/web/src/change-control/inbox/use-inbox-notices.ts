import { type InboxItem, routes } from '@halyard/contract'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useRef } from 'react'
import { flagKey } from '../../flags/flag-cache.ts'
import { describeState } from '../../flags/flag-summary.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useServices } from '../../services/services.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import { inboxKey, useInbox } from './use-inbox.ts'

const noticesMax = 3

/** Announces what others did with the user's requests, wherever the user is in the project. */
export function useInboxNotices(projectId: string | undefined): void {
  const { data } = useInbox(projectId)
  const newest = useRef<{ projectId: string | undefined; at: string }>(undefined)
  const announce = useAnnounce(projectId)
  useWhileHidden(projectId)
  useEffect(() => {
    if (!data) return
    const last = newest.current
    newest.current = { projectId, at: data.results[0]?.at ?? '' }
    // What was there when the page opened is in the list, not news.
    if (last?.projectId !== projectId) return
    for (const item of data.results.filter(({ at }) => last !== undefined && at > last.at).slice(0, noticesMax)) {
      announce(item)
    }
  }, [data, projectId, announce])
}

function useAnnounce(projectId: string | undefined) {
  const t = useMessages()
  const { percent } = useFormats()
  const { call } = useServices()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const notify = useNotify()
  return useCallback(
    async (item: InboxItem) => {
      const path = `/project/${projectId}/requests/${item.request_id}`
      if (projectId === undefined || window.location.pathname === path) return
      const params = { project_id: projectId, id: String(item.flag_id) }
      const flag =
        item.flag_id === null || item.state !== 'applied'
          ? undefined
          : await queries
              .fetchQuery({
                queryKey: flagKey(projectId, item.flag_id),
                queryFn: ({ signal }) => call(routes.flags.get, { params, signal }),
              })
              .catch(() => undefined)
      const state = flag && describeState(flag, { t, percent, groupTypes: {} }).text
      const sentence = t.inbox.news[item.kind] ?? t.inbox.news.commented
      notify.success({
        id: `request-${item.request_id}`,
        message: `${item.by ? item.by.first_name || item.by.email : 'Halyard'} ${sentence}: ${flag ? `${flag.key} · ${state}` : item.title}`,
        next: { label: t.gate.view, go: () => navigate({ to: path }) },
      })
    },
    [t, percent, call, queries, navigate, notify, projectId],
  )
}

/** A hidden tab refreshes nothing else, but its title shows the count. */
function useWhileHidden(projectId: string | undefined): void {
  const queries = useQueryClient()
  const { live } = useServices()
  useEffect(
    () =>
      live.subscribe(message => {
        if (!document.hidden || message.kind !== 'change') return
        const { topic, project } = message.change
        if (topic === 'change_request' && String(project) === projectId) {
          queries.invalidateQueries({ queryKey: inboxKey(projectId) })
        }
      }),
    [live, queries, projectId],
  )
}
