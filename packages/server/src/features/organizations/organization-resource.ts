import type {
  Invite as InviteWire,
  Member as MemberWire,
  NewInvite as NewInviteWire,
  Organization as OrganizationWire,
} from '@halyard/contract'
import type { Instant } from '../../instant.ts'
import type { Actor, Organization, Project } from '../../tenancy.ts'
import { userToWire } from '../identity/user-resource.ts'
import { projectBasicToWire } from '../projects/project-resource.ts'
import { signupPath } from './invite.ts'
import type { Invite, Member } from './organization.ts'

export const organizationToWire = (
  organization: Organization,
  actor: Actor,
  visibleProjects: readonly Project[],
): OrganizationWire => ({
  id: organization.id,
  name: organization.name,
  slug: organization.slug,
  created_at: organization.createdAt,
  updated_at: organization.updatedAt,
  membership_level: actor.levels.get(organization.id) ?? 0,
  plugins_access_level: organization.pluginsAccessLevel,
  default_access_level: organization.defaultAccessLevel,
  requires_second_factor: organization.requiresSecondFactor,
  teams: visibleProjects.filter(project => project.organizationId === organization.id).map(projectBasicToWire),
})

export const memberToWire = (member: Member): MemberWire => ({
  id: member.id,
  user: userToWire(member.user),
  level: member.level,
  is_2fa_enabled: member.hasSecondFactor,
  is_provisioned: member.isProvisioned,
  joined_at: member.joinedAt,
  updated_at: member.updatedAt,
})

export const inviteToWire = (invite: Invite, now: Instant): InviteWire => ({
  id: invite.id,
  target_email: invite.targetEmail,
  first_name: invite.firstName,
  level: invite.level,
  is_expired: invite.expiresAt <= now,
  created_by: userToWire(invite.createdBy),
  created_at: invite.createdAt,
  expires_at: invite.expiresAt,
})

/** With the secret that redeems it, which no other response contains; null when it was emailed. */
export const newInviteToWire = (invite: Invite, token: string | undefined, now: Instant): NewInviteWire => ({
  ...inviteToWire(invite, now),
  token: token ?? null,
  signup_path: token === undefined ? null : signupPath(token),
})
