import { routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useCall } from '../../services/services.ts'

export const providersKey = (organizationId: string) => ['identity-providers', organizationId]
export const domainsKey = (organizationId: string) => ['organization-domains', organizationId]
export const requirementKey = (organizationId: string) => ['single-sign-on', organizationId]

/** How members of an organization sign in; for admins. */
export function useSignInSettings(organizationId: string, isEnabled: boolean) {
  const call = useCall()
  const params = { parent_lookup_organization_id: organizationId }
  const r = routes.identityProviders
  return {
    providers: useQuery({
      queryKey: providersKey(organizationId),
      queryFn: ({ signal }) => call(r.list, { params, signal }),
      enabled: isEnabled,
    }),
    domains: useQuery({
      queryKey: domainsKey(organizationId),
      queryFn: ({ signal }) => call(r.listDomains, { params, signal }),
      enabled: isEnabled,
    }),
    requirement: useQuery({
      queryKey: requirementKey(organizationId),
      queryFn: ({ signal }) => call(r.getRequirement, { params, signal }),
      enabled: isEnabled,
    }),
  }
}
