import { routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useCall } from '../../services/services.ts'

export const requestKey = (projectId: string, requestId: string) =>
  ['change-requests', projectId, 'one', requestId] as const

export function useChangeRequest(projectId: string, requestId: string) {
  const call = useCall()
  return useQuery({
    queryKey: requestKey(projectId, requestId),
    queryFn: ({ signal }) =>
      call(routes.changeRequests.get, { params: { project_id: projectId, request_id: requestId }, signal }),
  })
}
