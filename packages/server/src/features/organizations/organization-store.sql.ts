import { type Kysely, type Selectable, sql } from 'kysely'
import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import { countRows, readPage } from '../../storage/read-page.ts'
import { updateSent } from '../../storage/save-row.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import type { Level, Organization } from '../../tenancy.ts'
import { type EmbeddedUser, embeddedUser, readUser } from '../identity/embedded-user.sql.ts'
import { requiresFactor } from '../identity/requires-factor.sql.ts'
import type { Invite, Member, OrganizationPatch } from './organization.ts'

export const sqlOrganizationStore = (db: Kysely<Tables>) => ({
  ...organizationRows(db),
  ...memberRows(db),
  ...inviteRows(db),
})

function organizationRows(db: Kysely<Tables>) {
  return {
    async create(organization: Organization): Promise<void> {
      await db.insertInto('organizations').values(fromOrganization(organization)).execute()
    },
    /** Writes what is sent; a field that is undefined keeps its stored value. */
    update: (organizationId: string, patch: OrganizationPatch): Promise<void> =>
      updateSent(db, 'organizations', organizationId, {
        name: patch.name,
        plugins_access_level: patch.pluginsAccessLevel,
        default_access_level: patch.defaultAccessLevel,
        requires_second_factor:
          patch.requiresSecondFactor === undefined ? undefined : Number(patch.requiresSecondFactor),
        updated_at: patch.updatedAt,
      }),
    /** With everything in it. */
    async remove(organizationId: string): Promise<void> {
      await db.deleteFrom('organizations').where('id', '=', organizationId).execute()
    },
    async find(organizationId: string): Promise<Organization | undefined> {
      const row = await db.selectFrom('organizations').selectAll().where('id', '=', organizationId).executeTakeFirst()
      return row && toOrganization(row)
    },
    /** Those among the ids that exist, oldest first. */
    async list(organizationIds: readonly string[], window: Window): Promise<PageOf<Organization>> {
      if (organizationIds.length === 0) return { count: 0, items: [] }
      const rows = await db
        .selectFrom('organizations')
        .selectAll()
        .where('id', 'in', organizationIds)
        .orderBy('created_at')
        .orderBy('id')
        .execute()
      return {
        count: rows.length,
        items: rows.slice(window.offset, window.offset + window.limit).map(toOrganization),
      }
    },
    async isSlugTaken(slug: string): Promise<boolean> {
      const row = await db.selectFrom('organizations').select('id').where('slug', '=', slug).executeTakeFirst()
      return row !== undefined
    },
    async requiresSingleSignOn(organizationId: string): Promise<boolean> {
      const row = await db
        .selectFrom('organizations')
        .select('requires_single_sign_on')
        .where('id', '=', organizationId)
        .executeTakeFirst()
      return row?.requires_single_sign_on === 1
    },
    async setRequiresSingleSignOn(organizationId: string, isRequired: boolean): Promise<void> {
      await db
        .updateTable('organizations')
        .set({ requires_single_sign_on: Number(isRequired) })
        .where('id', '=', organizationId)
        .execute()
    },
  }
}

function memberRows(db: Kysely<Tables>) {
  const members = (organizationId: string) =>
    db
      .selectFrom('memberships')
      .innerJoin('users as member', 'member.id', 'memberships.user_id')
      .selectAll('memberships')
      .select(embeddedUser('member'))
      .select([hasSecondFactor, isProvisioned])
      .where('memberships.organization_id', '=', organizationId)
      .where('member.is_active', '=', 1)
  const people = (organizationId: string) => members(organizationId).where('member.is_service', '=', 0)

  return {
    async addMember(
      member: Omit<Member, 'user' | 'hasSecondFactor' | 'isProvisioned'> & { readonly userId: number },
    ): Promise<void> {
      await db
        .insertInto('memberships')
        .values({
          id: member.id,
          organization_id: member.organizationId,
          user_id: member.userId,
          level: member.level,
          joined_at: member.joinedAt,
          updated_at: member.updatedAt,
        })
        .execute()
    },
    /** Until the end of the transaction no other one that locks them changes members or their levels. */
    async lockMembers(organizationId: string): Promise<void> {
      // Writing the row locks it on PostgreSQL; SQLite has only one writer anyway.
      await db
        .updateTable('organizations')
        .set(({ ref }) => ({ name: ref('name') }))
        .where('id', '=', organizationId)
        .execute()
    },
    async setLevel(organizationId: string, userId: number, level: Level, at: Instant): Promise<void> {
      await db
        .updateTable('memberships')
        .set({ level, updated_at: at })
        .where('organization_id', '=', organizationId)
        .where('user_id', '=', userId)
        .execute()
    },
    async removeMember(organizationId: string, userId: number): Promise<void> {
      await db
        .deleteFrom('memberships')
        .where('organization_id', '=', organizationId)
        .where('user_id', '=', userId)
        .execute()
    },
    /** Active users, by first name; no accounts of service keys. */
    listMembers: (organizationId: string, window: Window): Promise<PageOf<Member>> =>
      readPage(people(organizationId).orderBy('member.first_name').orderBy('member.id'), window, toMember),
    /** The same without accounts of keys and tokens. */
    async findPerson(organizationId: string, userUuid: string): Promise<Member | undefined> {
      const row = await people(organizationId).where('member.uuid', '=', userUuid).executeTakeFirst()
      return row && toMember(row)
    },
    async findMember(organizationId: string, userUuid: string): Promise<Member | undefined> {
      const row = await members(organizationId).where('member.uuid', '=', userUuid).executeTakeFirst()
      return row && toMember(row)
    },
    /** The organizations of a user, as far as signing in depends on them. */
    async listMemberships(
      userId: number,
    ): Promise<
      readonly { readonly organizationId: string; readonly level: Level; readonly requiresSingleSignOn: boolean }[]
    > {
      const rows = await db
        .selectFrom('memberships')
        .innerJoin('organizations', 'organizations.id', 'memberships.organization_id')
        .select(['memberships.organization_id', 'memberships.level', 'organizations.requires_single_sign_on'])
        .where('memberships.user_id', '=', userId)
        .orderBy('memberships.joined_at')
        .orderBy('memberships.id')
        .execute()
      return rows.map(row => ({
        organizationId: row.organization_id,
        level: row.level as Level,
        requiresSingleSignOn: row.requires_single_sign_on === 1,
      }))
    },
    /** Organizations that need a second factor of the user: as all members, or as the owner who can go around single sign-on. */
    listRequiringFactor: (userId: number): Promise<readonly { readonly id: string; readonly name: string }[]> =>
      db
        .selectFrom('memberships')
        .innerJoin('organizations', 'organizations.id', 'memberships.organization_id')
        .select(['organizations.id', 'organizations.name'])
        .where('memberships.user_id', '=', userId)
        .where(requiresFactor)
        .orderBy('organizations.name')
        .execute(),
  }
}

function inviteRows(db: Kysely<Tables>) {
  const invites = () =>
    db
      .selectFrom('invites')
      .innerJoin('users as creator', 'creator.id', 'invites.created_by_id')
      .selectAll('invites')
      .select(embeddedUser('creator'))

  return {
    async createInvite(invite: Invite): Promise<void> {
      await db
        .insertInto('invites')
        .values({
          id: invite.id,
          organization_id: invite.organizationId,
          target_email: invite.targetEmail,
          first_name: invite.firstName,
          level: invite.level,
          token_hash: invite.tokenHash,
          is_emailed: Number(invite.isEmailed),
          created_by_id: invite.createdBy.id,
          created_at: invite.createdAt,
          expires_at: invite.expiresAt,
        })
        .execute()
    },
    /** Those that have not expired, of all members or of the one who sent them. */
    countOpenInvites(organizationId: string, now: Instant, createdById?: number): Promise<number> {
      const open = db.selectFrom('invites').where('organization_id', '=', organizationId).where('expires_at', '>', now)
      return countRows(createdById === undefined ? open : open.where('created_by_id', '=', createdById))
    },
    async removeInvite(inviteId: string): Promise<void> {
      await db.deleteFrom('invites').where('id', '=', inviteId).execute()
    },
    /** All that are for this address. */
    async removeInvitesFor(organizationId: string, email: string): Promise<void> {
      await db
        .deleteFrom('invites')
        .where('organization_id', '=', organizationId)
        .where('target_email', '=', email.toLowerCase())
        .execute()
    },
    async findInvite(organizationId: string, inviteId: string): Promise<Invite | undefined> {
      const row = await invites()
        .where('invites.organization_id', '=', organizationId)
        .where('invites.id', '=', inviteId)
        .executeTakeFirst()
      return row && toInvite(row)
    },
    async findInviteByToken(tokenHash: string): Promise<Invite | undefined> {
      const row = await invites().where('invites.token_hash', '=', tokenHash).executeTakeFirst()
      return row && toInvite(row)
    },
    /** One for this address that has not expired. */
    async findOpenInvite(organizationId: string, email: string, now: Instant): Promise<Invite | undefined> {
      const row = await invites()
        .where('invites.organization_id', '=', organizationId)
        .where('invites.target_email', '=', email.toLowerCase())
        .where('invites.expires_at', '>', now)
        .orderBy('invites.created_at', 'desc')
        .executeTakeFirst()
      return row && toInvite(row)
    },
    listInvites(organizationId: string, window: Window): Promise<PageOf<Invite>> {
      const query = invites()
        .where('invites.organization_id', '=', organizationId)
        .orderBy('invites.created_at', 'desc')
        .orderBy('invites.id')
      return readPage(query, window, toInvite)
    },
  }
}

const toOrganization = (row: Selectable<Tables['organizations']>): Organization => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  pluginsAccessLevel: row.plugins_access_level,
  defaultAccessLevel: row.default_access_level,
  requiresSecondFactor: row.requires_second_factor === 1,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const fromOrganization = (organization: Organization) => ({
  id: organization.id,
  name: organization.name,
  slug: organization.slug,
  plugins_access_level: organization.pluginsAccessLevel,
  default_access_level: organization.defaultAccessLevel,
  requires_second_factor: Number(organization.requiresSecondFactor),
  created_at: organization.createdAt,
  updated_at: organization.updatedAt,
})

const hasSecondFactor = sql<number>`exists (select 1 from second_factors where user_id = memberships.user_id)`.as(
  'has_second_factor',
)

const isProvisioned = sql<number>`exists (select 1 from scim_users where user_id = memberships.user_id
  and organization_id = memberships.organization_id and deleted_at is null)`.as('is_provisioned')

const toMember = (
  row: Tables['memberships'] &
    EmbeddedUser<'member'> & {
      readonly has_second_factor: number | boolean
      readonly is_provisioned: number | boolean
    },
): Member => ({
  id: row.id,
  organizationId: row.organization_id,
  user: readUser(row, 'member'),
  level: row.level as Level,
  hasSecondFactor: Boolean(row.has_second_factor),
  isProvisioned: Boolean(row.is_provisioned),
  joinedAt: row.joined_at,
  updatedAt: row.updated_at,
})

const toInvite = (row: Selectable<Tables['invites']> & EmbeddedUser<'creator'>): Invite => ({
  id: row.id,
  organizationId: row.organization_id,
  targetEmail: row.target_email,
  firstName: row.first_name,
  level: row.level as Level,
  tokenHash: row.token_hash,
  isEmailed: row.is_emailed === 1,
  createdBy: readUser(row, 'creator'),
  createdAt: row.created_at,
  expiresAt: row.expires_at,
})
