import { routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useCall } from '../../../services/services.ts'

const peopleMax = '100'
const none: readonly string[] = []

/** Names of properties that some people of the project have, so that they can be picked and need not be remembered. */
export function usePersonPropertyNames(projectId: string): readonly string[] {
  const call = useCall()
  const people = useQuery({
    queryKey: ['persons', projectId, 'properties'],
    queryFn: async ({ signal }) => {
      const params = { project_id: projectId }
      return (await call(routes.persons.list, { params, query: { limit: peopleMax }, signal })).results
    },
    staleTime: 60_000,
    retry: false,
  }).data
  return useMemo(
    () => (people ? [...new Set(people.flatMap(({ properties }) => Object.keys(properties)))].sort() : none),
    [people],
  )
}
