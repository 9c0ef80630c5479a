import { type ChangeRequestDetail, commentsPerRequestMax, routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { flagKey } from '../../flags/flag-cache.ts'
import { useCall } from '../../services/services.ts'
import { useApiQuery } from '../../services/use-api-query.ts'

/** Apart from the lists: what applying it would change also depends on its flag. */
export const requestKey = (projectId: string, requestId: string) => ['change-request', projectId, requestId] as const

export function useChangeRequest(projectId: string, requestId: string) {
  return useApiQuery(requestKey(projectId, requestId), routes.changeRequests.get, {
    params: { project_id: projectId, request_id: requestId },
  })
}

/** All comments on a request, oldest first. Changes of it are pushed. */
export function useRequestComments(projectId: string, requestId: number) {
  const call = useCall()
  return useQuery({
    queryKey: commentsKey(projectId, requestId),
    queryFn: async ({ signal }) =>
      (
        await call(routes.requestComments.list, {
          params: { project_id: projectId, request_id: String(requestId) },
          query: { limit: String(commentsPerRequestMax) },
          signal,
        })
      ).results,
  })
}

export const commentsKey = (projectId: string, requestId: number) =>
  ['change-requests', projectId, 'comments', requestId] as const

/** The flag that a request is about; undefined for a cohort and for a flag to be created. */
export function useRequestFlag(projectId: string, { resource_type, resource_id }: ChangeRequestDetail) {
  const call = useCall()
  return useQuery({
    queryKey: flagKey(projectId, resource_id ?? ''),
    queryFn: ({ signal }) =>
      call(routes.flags.get, { params: { project_id: projectId, id: resource_id ?? '' }, signal }),
    enabled: resource_id !== null && resource_type !== 'cohort',
  })
}
