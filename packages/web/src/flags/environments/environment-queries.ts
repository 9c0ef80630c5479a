import { routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useCall } from '../../services/services.ts'

const setsMax = '200'

export const setsKey = (organizationId: string | undefined) => ['environment-sets', organizationId] as const

/** The environment sets of an organization. */
export function useEnvironmentSets(organizationId: string | undefined) {
  const call = useCall()
  return useQuery({
    queryKey: setsKey(organizationId),
    queryFn: async ({ signal }) =>
      (
        await call(routes.environments.list, {
          params: { parent_lookup_organization_id: organizationId ?? '' },
          query: { limit: setsMax },
          signal,
        })
      ).results,
    enabled: organizationId !== undefined,
    staleTime: 30_000,
  })
}

/** The set that a project is an environment of. */
export function useEnvironmentSetOf(project: { readonly id: number; readonly organization: string }) {
  const { data, isPending } = useEnvironmentSets(project.organization)
  const set = data?.find(({ environments }) => environments.some(each => each.project === project.id))
  return { set, isPending }
}
