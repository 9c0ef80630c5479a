import { routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useCall } from './services.ts'

const listedMax = '1000'

/** The members of an organization; none are loaded until it is known. */
export function useMembers(organizationId: string | undefined) {
  const call = useCall()
  return useQuery({
    queryKey: ['members', organizationId],
    queryFn: async ({ signal }) => {
      const params = { parent_lookup_organization_id: organizationId ?? '' }
      return (await call(routes.organizations.listMembers, { params, query: { limit: listedMax }, signal })).results
    },
    enabled: organizationId !== undefined,
  })
}

/** The roles of an organization; none are loaded until it is known. */
export function useRoles(organizationId: string | undefined) {
  const call = useCall()
  return useQuery({
    queryKey: ['roles', organizationId],
    queryFn: async ({ signal }) => {
      const params = { parent_lookup_organization_id: organizationId ?? '' }
      return (await call(routes.roles.list, { params, query: { limit: listedMax }, signal })).results
    },
    enabled: organizationId !== undefined,
  })
}
