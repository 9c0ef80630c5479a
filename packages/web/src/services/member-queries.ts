import { routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useCall } from './services.ts'
import { useOrganizations } from './session-queries.ts'
import { useApiQuery } from './use-api-query.ts'

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

/** What members can do with flags as far as no role decides. Undefined until it is known. */
export function useFlagAccessSettings(organizationId: string) {
  const resources = useApiQuery(['roles', organizationId, 'resource-access'], routes.roles.listResourceAccess, {
    params: { parent_lookup_organization_id: organizationId },
  }).data
  const organization = useOrganizations().data?.find(({ id }) => id === organizationId)
  if (!resources || !organization) return undefined
  return {
    /** The setting for the whole organization, if there is one. It counts before the default. */
    organizationAccess: resources.results.find(({ resource }) => resource === 'feature flags')?.access_level,
    defaultAccess: organization.default_access_level,
  }
}
