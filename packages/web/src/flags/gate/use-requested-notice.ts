import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { OpenedRequest } from '../../api/problem.ts'
import { useMessages } from '../../i18n/language.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'

/** Announces the request that was opened instead of a change, and leads to it. */
export function useRequestedNotice(projectId: string): (request: OpenedRequest) => void {
  const t = useMessages()
  const notify = useNotify()
  const navigate = useNavigate()
  const queries = useQueryClient()
  return useCallback(
    ({ id, title }) => {
      queries.invalidateQueries({ queryKey: ['change-requests', projectId] })
      notify.success({
        id: `request-${id}`,
        message: t.gate.requested(title),
        next: {
          label: t.gate.view,
          go: () =>
            navigate({
              to: '/project/$projectId/requests/$requestId',
              params: { projectId, requestId: String(id) },
            }),
        },
      })
    },
    [t, notify, navigate, queries, projectId],
  )
}
