import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import type { Level, Organization, User } from '../../tenancy.ts'

export interface Member {
  readonly id: string
  readonly organizationId: string
  readonly user: User
  readonly level: Level
  readonly joinedAt: Instant
  readonly updatedAt: Instant
}

export interface Invite {
  readonly id: string
  readonly organizationId: string
  readonly targetEmail: string
  readonly firstName: string
  readonly level: Level
  /** SHA-256 of the token that redeems it; null when none does. */
  readonly tokenHash: string | null
  readonly createdBy: User
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

export interface OrganizationPatch {
  readonly name?: string | undefined
  readonly pluginsAccessLevel?: number | undefined
  readonly defaultAccessLevel?: number | undefined
  readonly updatedAt: Instant
}

export interface OrganizationStore {
  create(organization: Organization): Promise<void>
  /** Writes what is sent; a field that is undefined keeps its stored value. */
  update(organizationId: string, patch: OrganizationPatch): Promise<void>
  /** With everything in it. */
  remove(organizationId: string): Promise<void>
  find(organizationId: string): Promise<Organization | undefined>
  /** Those among the ids that exist, oldest first. */
  list(organizationIds: readonly string[], window: Window): Promise<PageOf<Organization>>
  isSlugTaken(slug: string): Promise<boolean>

  addMember(member: Omit<Member, 'user'> & { readonly userId: number }): Promise<void>
  /** Until the end of the transaction no other one that locks them changes members or their levels. */
  lockMembers(organizationId: string): Promise<void>
  setLevel(organizationId: string, userId: number, level: Level, at: Instant): Promise<void>
  removeMember(organizationId: string, userId: number): Promise<void>
  /** Active users, by first name. */
  listMembers(organizationId: string, window: Window): Promise<PageOf<Member>>
  findMember(organizationId: string, userUuid: string): Promise<Member | undefined>

  createInvite(invite: Invite): Promise<void>
  /** Those that have not expired, of all members or of the one who sent them. */
  countOpenInvites(organizationId: string, now: Instant, createdById?: number): Promise<number>
  removeInvite(inviteId: string): Promise<void>
  findInvite(organizationId: string, inviteId: string): Promise<Invite | undefined>
  findInviteByToken(tokenHash: string): Promise<Invite | undefined>
  listInvites(organizationId: string, window: Window): Promise<PageOf<Invite>>
}
