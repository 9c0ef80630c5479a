import { useMembers, useRoles } from '../../services/member-queries.ts'

/** Members and roles of the organization, to pick from and to name. */
export function useApprovers(organizationId: string) {
  const members = useMembers(organizationId)
  const roles = useRoles(organizationId)
  return {
    people: (members.data ?? []).map(({ user }) => ({
      value: String(user.id),
      label: user.first_name ? `${user.first_name} (${user.email})` : user.email,
    })),
    roles: (roles.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
    isPending: members.isPending || roles.isPending,
  }
}
