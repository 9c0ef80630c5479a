import { routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'

export const inboxKey = (projectId: string | undefined) => ['inbox', projectId] as const

/** What waits for the user, and what others did with the user's requests. Changes are pushed, so it is not polled. */
export function useInbox(projectId: string | undefined) {
  const call = useCall()
  return useQuery({
    queryKey: inboxKey(projectId),
    queryFn: ({ signal }) => call(routes.inbox.get, { params: { project_id: projectId ?? '' }, signal }),
    enabled: projectId !== undefined,
    staleTime: 30_000,
  })
}

/** How much is new, and in words: requests to decide and unread items. */
export function useInboxCount(projectId: string | undefined): { readonly count: number; readonly label: string } {
  const t = useMessages()
  const { waiting, unread } = useInbox(projectId).data ?? { waiting: 0, unread: 0 }
  const words = [...(waiting > 0 ? [t.requests.waiting(waiting)] : []), ...(unread > 0 ? [t.inbox.count(unread)] : [])]
  return { count: waiting + unread, label: words.join(', ') }
}
