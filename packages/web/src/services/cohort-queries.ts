import { type AnswerOf, routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useCall } from './services.ts'

export type Cohort = AnswerOf<typeof routes.cohorts.get>

const cohortsMax = '1000'
const none: readonly Cohort[] = []

export function useCohortList(projectId: string) {
  const call = useCall()
  return useQuery({
    queryKey: ['cohorts', projectId],
    queryFn: async ({ signal }) =>
      (await call(routes.cohorts.list, { params: { project_id: projectId }, query: { limit: cohortsMax }, signal }))
        .results,
    staleTime: 30_000,
  })
}

/** The cohorts of a project, for pickers, sentences and previews. */
export const useCohorts = (projectId: string): readonly Cohort[] => useCohortList(projectId).data ?? none
