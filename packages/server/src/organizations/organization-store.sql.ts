import type { Kysely, Selectable } from 'kysely'
import { toUser, userColumns } from '../identity/identity-store.sql.ts'
import type { OrganizationRow, Tables } from '../storage/tables.ts'
import type { Level, Organization } from '../tenancy.ts'
import type { Invite, Member, OrganizationStore } from './organization-store.ts'

export function sqlOrganizationStore(db: Kysely<Tables>): OrganizationStore {
  const members = (organizationId: string) =>
    db
      .selectFrom('memberships')
      .innerJoin('users', 'users.id', 'memberships.user_id')
      .where('memberships.organization_id', '=', organizationId)
      .where('users.is_active', '=', 1)
  const memberColumns = [
    ...userColumns,
    'memberships.id as membership_id',
    'memberships.organization_id',
    'memberships.level',
    'memberships.joined_at',
    'memberships.updated_at',
  ] as const
  const invites = () =>
    db
      .selectFrom('invites')
      .innerJoin('users', 'users.id', 'invites.created_by_id')
      .select(userColumns)
      .select([
        'invites.id as invite_id',
        'invites.organization_id',
        'invites.target_email',
        'invites.first_name as invited_name',
        'invites.level',
        'invites.created_at',
        'invites.expires_at',
      ])

  return {
    async create(organization) {
      await db.insertInto('organizations').values(fromOrganization(organization)).execute()
    },
    async update(organization) {
      await db
        .updateTable('organizations')
        .set(fromOrganization(organization))
        .where('id', '=', organization.id)
        .execute()
    },
    async remove(organizationId) {
      await db.deleteFrom('organizations').where('id', '=', organizationId).execute()
    },
    async find(organizationId) {
      const row = await db.selectFrom('organizations').selectAll().where('id', '=', organizationId).executeTakeFirst()
      return row && toOrganization(row)
    },
    async list(organizationIds, window) {
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
    async isSlugTaken(slug) {
      const row = await db.selectFrom('organizations').select('id').where('slug', '=', slug).executeTakeFirst()
      return row !== undefined
    },

    async addMember(member) {
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
    async setLevel(organizationId, userId, level, at) {
      await db
        .updateTable('memberships')
        .set({ level, updated_at: at })
        .where('organization_id', '=', organizationId)
        .where('user_id', '=', userId)
        .execute()
    },
    async removeMember(organizationId, userId) {
      await db
        .deleteFrom('memberships')
        .where('organization_id', '=', organizationId)
        .where('user_id', '=', userId)
        .execute()
    },
    async listMembers(organizationId, window) {
      const count = await members(organizationId)
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow()
      const rows = await members(organizationId)
        .select(memberColumns)
        .orderBy('users.first_name')
        .orderBy('users.id')
        .limit(window.limit)
        .offset(window.offset)
        .execute()
      return { count: Number(count.n), items: rows.map(toMember) }
    },
    async findMember(organizationId, userUuid) {
      const row = await members(organizationId)
        .select(memberColumns)
        .where('users.uuid', '=', userUuid)
        .executeTakeFirst()
      return row && toMember(row)
    },

    async createInvite(invite) {
      await db
        .insertInto('invites')
        .values({
          id: invite.id,
          organization_id: invite.organizationId,
          target_email: invite.targetEmail,
          first_name: invite.firstName,
          level: invite.level,
          created_by_id: invite.createdBy.id,
          created_at: invite.createdAt,
          expires_at: invite.expiresAt,
        })
        .execute()
    },
    async removeInvite(inviteId) {
      await db.deleteFrom('invites').where('id', '=', inviteId).execute()
    },
    async findInvite(inviteId) {
      const row = await invites().where('invites.id', '=', inviteId).executeTakeFirst()
      return row && toInvite(row)
    },
    async listInvites(organizationId, window) {
      const count = await db
        .selectFrom('invites')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .where('organization_id', '=', organizationId)
        .executeTakeFirstOrThrow()
      const rows = await invites()
        .where('invites.organization_id', '=', organizationId)
        .orderBy('invites.created_at', 'desc')
        .orderBy('invites.id')
        .limit(window.limit)
        .offset(window.offset)
        .execute()
      return { count: Number(count.n), items: rows.map(toInvite) }
    },
  }
}

const toOrganization = (row: Selectable<OrganizationRow>): Organization => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  pluginsAccessLevel: row.plugins_access_level,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const fromOrganization = (organization: Organization): OrganizationRow => ({
  id: organization.id,
  name: organization.name,
  slug: organization.slug,
  plugins_access_level: organization.pluginsAccessLevel,
  created_at: organization.createdAt,
  updated_at: organization.updatedAt,
})

type EmbeddedUser = Parameters<typeof toUser>[0]

const toMember = (
  row: EmbeddedUser & {
    membership_id: string
    organization_id: string
    level: number
    joined_at: string
    updated_at: string
  },
): Member => ({
  id: row.membership_id,
  organizationId: row.organization_id,
  user: toUser(row),
  level: row.level as Level,
  joinedAt: row.joined_at,
  updatedAt: row.updated_at,
})

const toInvite = (
  row: EmbeddedUser & {
    invite_id: string
    organization_id: string
    target_email: string
    invited_name: string
    level: number
    created_at: string
    expires_at: string
  },
): Invite => ({
  id: row.invite_id,
  organizationId: row.organization_id,
  targetEmail: row.target_email,
  firstName: row.invited_name,
  level: row.level as Level,
  createdBy: toUser(row),
  createdAt: row.created_at,
  expiresAt: row.expires_at,
})
