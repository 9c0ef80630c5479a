import { routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useCall } from '../../services/services.ts'

/** How many change requests wait for the user. Changes are pushed, so it is not polled. */
export function useInboxCount(projectId: string | undefined): number {
  const call = useCall()
  const { data } = useQuery({
    queryKey: ['change-requests', projectId, 'inbox-count'],
    queryFn: async ({ signal }) =>
      (
        await call(routes.changeRequests.list, {
          params: { project_id: projectId ?? '' },
          query: { mine: '1', limit: '1' },
          signal,
        })
      ).count,
    enabled: projectId !== undefined,
    staleTime: 30_000,
  })
  return data ?? 0
}
