import { type AnswerOf, routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useCall } from '../../services/services.ts'
import { facetsKey } from '../flag-cache.ts'

export type FlagFacets = AnswerOf<typeof routes.flagList.facets>

const nothing: FlagFacets = { tags: [], creators: [] }

/** The tags and creators that the list can be filtered by. */
export function useFlagFacets(projectId: string): FlagFacets {
  const call = useCall()
  const { data } = useQuery({
    queryKey: facetsKey(projectId),
    queryFn: ({ signal }) => call(routes.flagList.facets, { params: { project_id: projectId }, signal }),
    staleTime: 30_000,
  })
  return data ?? nothing
}
