import { ownerLevel } from '@halyard/contract/levels'
import { useCurrentScope } from '../../services/current-scope.ts'
import { useRoles } from '../../services/member-queries.ts'
import { useMe, useMembershipLevel } from '../../services/session-queries.ts'
import type { Gate } from './gate.ts'
import { useApprovalPolicies } from './gate-queries.ts'

/** Owners, and for approvals the members of the emergency roles. The server decides which policies a change meets. */
export function useCanBreakGlass({ kind }: Gate): boolean {
  const { organizationId = '', projectId = '' } = useCurrentScope()
  const isOwner = useMembershipLevel(organizationId) >= ownerLevel
  const email = useMe().data?.email
  const named = (useApprovalPolicies(projectId).data ?? []).flatMap(policy =>
    policy.enabled ? policy.emergency_roles : [],
  )
  const isNamed = kind === 'approval' && !isOwner && named.length > 0
  const roles = useRoles(isNamed ? organizationId : undefined)
  if (isOwner) return true
  return (
    isNamed &&
    email !== undefined &&
    (roles.data ?? []).some(({ id, members }) => named.includes(id) && members.split(',').includes(email))
  )
}
