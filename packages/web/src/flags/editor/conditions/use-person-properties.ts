import { routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useCall } from '../../../services/services.ts'

const peopleMax = '100'
const none: readonly string[] = []

/** Property names of some people in the project, for suggestions. */
export function usePersonPropertyNames(projectId: string): readonly string[] {
  const call = useCall()
  const people = useQuery({
    queryKey: ['persons', projectId, 'properties'],
    queryFn: async ({ signal }) => {
      const params = { project_id: projectId }
      return (await call(routes.persons.list, { params, query: { limit: peopleMax }, signal })).results
    },
    staleTime: 5 * 60_000,
    refetchInterval: false,
    refetchOnWindowFocus: false,
    retry: false,
  }).data
  return useMemo(
    () => (people ? [...new Set(people.flatMap(({ properties }) => Object.keys(properties)))].sort() : none),
    [people],
  )
}
