import { routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useCall } from '../../services/services.ts'

const listedMax = '1000'

/** Members and roles of the organization, to pick from and to name. */
export function useApprovers(organizationId: string) {
  const call = useCall()
  const params = { parent_lookup_organization_id: organizationId }
  const members = useQuery({
    queryKey: ['members', organizationId],
    queryFn: ({ signal }) => call(routes.organizations.listMembers, { params, query: { limit: listedMax }, signal }),
  })
  const roles = useQuery({
    queryKey: ['roles', organizationId],
    queryFn: ({ signal }) => call(routes.roles.list, { params, query: { limit: listedMax }, signal }),
  })
  return {
    people: (members.data?.results ?? []).map(({ user }) => ({
      value: String(user.id),
      label: user.first_name ? `${user.first_name} (${user.email})` : user.email,
    })),
    roles: (roles.data?.results ?? []).map(({ id, name }) => ({ value: id, label: name })),
    isPending: members.isPending || roles.isPending,
  }
}
