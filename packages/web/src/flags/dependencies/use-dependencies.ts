import { routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useCall } from '../../services/services.ts'

/** What depends on what: in the whole project, or around one flag. Changes are pushed. */
export function useDependencies(projectId: string, flagId?: string) {
  const call = useCall()
  return useQuery({
    queryKey: ['flag-dependencies', projectId, flagId],
    queryFn: ({ signal }) =>
      call(routes.flagDetails.dependencies, {
        params: { project_id: projectId },
        query: { flag_id: flagId },
        signal,
      }),
  })
}
