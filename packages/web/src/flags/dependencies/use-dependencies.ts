import { routes } from '@halyard/contract'
import { useApiQuery } from '../../services/use-api-query.ts'

/** What depends on what: in the whole project, or around one flag. Changes are pushed. */
export function useDependencies(projectId: string, flagId?: string) {
  return useApiQuery(['flag-dependencies', projectId, flagId], routes.flagDetails.dependencies, {
    params: { project_id: projectId },
    query: { flag_id: flagId },
  })
}
