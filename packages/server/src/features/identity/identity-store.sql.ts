import type { Kysely, Selectable } from 'kysely'
import type { Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import { uniqueViolation } from '../../storage/driver-error.ts'
import { countRows } from '../../storage/read-page.ts'
import { updateSent } from '../../storage/save-row.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { type Actor, type Level, ownerLevel, type User } from '../../tenancy.ts'
import type { Account, EmailRecipient, KeyPatch, NewAccount, UserLanguage } from './account.ts'
import { type ApiKey, canonicalScopes, type ServiceKey } from './api-key.ts'
import { embeddedUser, readUser } from './embedded-user.sql.ts'
import { requiresFactor } from './requires-factor.sql.ts'

export const sqlIdentityStore = (db: Kysely<Tables>) => ({
  ...actorRows(db),
  ...accountRows(db),
  ...keyRows(db),
})

function actorRows(db: Kysely<Tables>) {
  /** API keys are exempt, and sign-ins with a passkey or elsewhere: these are stronger than a password. */
  const lacksSecondFactor = async ({ sign_in_id, user_id }: { sign_in_id: string | null; user_id: number }) => {
    if (sign_in_id === null) return false
    const row = await db
      .selectFrom('sign_ins')
      .innerJoin('memberships', 'memberships.user_id', 'sign_ins.user_id')
      .innerJoin('organizations', 'organizations.id', 'memberships.organization_id')
      .select('sign_ins.id')
      .where('sign_ins.id', '=', sign_in_id)
      .where('sign_ins.method', '=', 'password')
      .where(requiresFactor)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('second_factors').select('id').where('user_id', '=', user_id))),
      )
      .executeTakeFirst()
    return row !== undefined
  }

  return {
    /** The user and the key behind a key's hash: not revoked, user active. The caller checks the expiry. */
    async findActor(keyHash: string): Promise<{ actor: Actor; key: ApiKey } | undefined> {
      const keyRow = await db.selectFrom('api_keys').selectAll().where('hash', '=', keyHash).executeTakeFirst()
      if (!keyRow) return undefined
      const rows = await db
        .selectFrom('users')
        .leftJoin('memberships', 'memberships.user_id', 'users.id')
        .leftJoin('organizations', 'organizations.id', 'memberships.organization_id')
        .selectAll('users')
        .select(['memberships.organization_id as member_of', 'memberships.level as member_level'])
        .select('organizations.requires_single_sign_on')
        .where('users.id', '=', keyRow.user_id)
        .where('users.is_active', '=', 1)
        .execute()
      if (rows.length === 0) return undefined
      const key = toApiKey(keyRow)
      const actor = withoutSingleSignOn(toActor(key, rows), rows)
      return { key, actor: (await lacksSecondFactor(keyRow)) ? { ...actor, lacksSecondFactor: true } : actor }
    },
    /** The same for the API keys (no sign-ins) of the active members of an organization; by key id, at most `limit`. */
    async listActors(organizationId: string, limit: number): Promise<readonly { actor: Actor; key: ApiKey }[]> {
      const keyRows = await db
        .selectFrom('api_keys')
        .innerJoin('memberships', 'memberships.user_id', 'api_keys.user_id')
        .innerJoin('users', 'users.id', 'api_keys.user_id')
        .selectAll('api_keys')
        .where('memberships.organization_id', '=', organizationId)
        .where('users.is_active', '=', 1)
        .where('api_keys.is_session', '=', 0)
        .orderBy('api_keys.id')
        .limit(limit)
        .execute()
      const users = await db
        .selectFrom('users')
        .innerJoin('memberships', 'memberships.user_id', 'users.id')
        .selectAll('users')
        .select(['memberships.organization_id as member_of', 'memberships.level as member_level'])
        .where('users.id', 'in', ({ selectFrom }) =>
          selectFrom('memberships').select('user_id').where('organization_id', '=', organizationId),
        )
        .execute()
      const byUser = new Map<number, MemberRow[]>()
      for (const row of users) byUser.set(row.id, [...(byUser.get(row.id) ?? []), row])
      return keyRows.map(row => {
        const key = toApiKey(row)
        return { key, actor: toActor(key, byUser.get(row.user_id)!) }
      })
    },
    /** Records that the key was used. */
    async touchKey(keyId: string, at: Instant): Promise<void> {
      await db.updateTable('api_keys').set({ last_used_at: at }).where('id', '=', keyId).execute()
    },
  }
}

function accountRows(db: Kysely<Tables>) {
  const accounts = db.selectFrom('users').selectAll()
  const findAccountWhere = async (column: 'id' | 'email' | 'uuid', value: string | number) => {
    const row = await accounts.where(column, '=', value).executeTakeFirst()
    return row && toAccount(row)
  }

  return {
    findAccount: (userId: number): Promise<Account | undefined> => findAccountWhere('id', userId),
    /** Active accounts that want emails about change requests, by id. */
    async listEmailRecipients(userIds: readonly number[], limit: number): Promise<readonly EmailRecipient[]> {
      if (userIds.length === 0) return []
      const rows = await db
        .selectFrom('users')
        .select(['email', 'language'])
        .where('id', 'in', userIds)
        .where('is_active', '=', 1)
        .where('change_request_emails', '=', 1)
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(({ email, language }) => ({ email, language: language as UserLanguage | null }))
    },
    findAccountByEmail: (email: string): Promise<Account | undefined> => findAccountWhere('email', email.toLowerCase()),
    findAccountByUuid: (uuid: string): Promise<Account | undefined> => findAccountWhere('uuid', uuid),
    /** Raises `invalid` (`unique`, `email`) when the email address is taken. */
    async createAccount(account: NewAccount): Promise<Account> {
      try {
        const { id } = await db
          .insertInto('users')
          .values({
            uuid: account.uuid,
            distinct_id: account.distinctId,
            first_name: account.firstName,
            email: account.email.toLowerCase(),
            password_hash: account.passwordHash,
            is_email_verified: Number(account.isEmailVerified),
            is_active: Number(account.isActive),
            is_staff: Number(account.isStaff),
            is_service: Number(account.isService ?? false),
            current_organization_id: account.currentOrganizationId,
            current_project_id: account.currentProjectId,
            date_joined: account.dateJoined,
          })
          .returning('id')
          .executeTakeFirstOrThrow()
        return { ...account, email: account.email.toLowerCase(), id, hasRequestEmails: true, language: null }
      } catch (error) {
        throw takenEmail(error)
      }
    },
    /** Raises `invalid` (`unique`, `email`) when the new email address is taken. */
    async updateAccount(
      userId: number,
      fields: Partial<
        Pick<
          Account,
          | 'firstName'
          | 'email'
          | 'isEmailVerified'
          | 'passwordHash'
          | 'currentOrganizationId'
          | 'currentProjectId'
          | 'isActive'
          | 'isStaff'
          | 'hasRequestEmails'
          | 'language'
        >
      >,
    ): Promise<void> {
      try {
        await updateSent(db, 'users', userId, {
          first_name: fields.firstName,
          email: fields.email?.toLowerCase(),
          is_email_verified: fields.isEmailVerified === undefined ? undefined : Number(fields.isEmailVerified),
          password_hash: fields.passwordHash,
          current_organization_id: fields.currentOrganizationId,
          current_project_id: fields.currentProjectId,
          is_active: fields.isActive === undefined ? undefined : Number(fields.isActive),
          is_staff: fields.isStaff === undefined ? undefined : Number(fields.isStaff),
          change_request_emails: fields.hasRequestEmails === undefined ? undefined : Number(fields.hasRequestEmails),
          language: fields.language,
        })
      } catch (error) {
        throw takenEmail(error)
      }
    },
    async listOrganizationIds(userId: number): Promise<readonly string[]> {
      const rows = await db.selectFrom('memberships').select('organization_id').where('user_id', '=', userId).execute()
      return rows.map(row => row.organization_id)
    },
    countAccounts: (): Promise<number> => countRows(db.selectFrom('users')),
  }
}

function keyRows(db: Kysely<Tables>) {
  return {
    async createKey(key: ApiKey): Promise<void> {
      await db.insertInto('api_keys').values(fromApiKey(key)).execute()
    },
    /** Writes what is sent; a field that is undefined keeps its stored value. */
    updateKey: (keyId: string, patch: KeyPatch): Promise<void> =>
      updateSent(db, 'api_keys', keyId, {
        label: patch.label,
        scopes: patch.scopes && JSON.stringify(patch.scopes),
        scoped_teams: patch.projectIds && JSON.stringify(patch.projectIds),
        scoped_organizations: patch.organizationIds && JSON.stringify(patch.organizationIds),
        expires_at: patch.expiresAt,
      }),
    /** The keys of the organization's accounts without a person, newest first, with the level and creator of each. */
    async listServiceKeys(organizationId: string): Promise<readonly ServiceKey[]> {
      const rows = await db
        .selectFrom('api_keys')
        .innerJoin('users as service', 'service.id', 'api_keys.user_id')
        .innerJoin('memberships', 'memberships.user_id', 'service.id')
        .innerJoin('account_ties', 'account_ties.account_id', 'service.id')
        .innerJoin('users as creator', 'creator.id', 'account_ties.by_id')
        .selectAll('api_keys')
        .select('memberships.level')
        .select([...embeddedUser('service'), ...embeddedUser('creator')])
        .where('memberships.organization_id', '=', organizationId)
        .where('service.is_service', '=', 1)
        .where('account_ties.kind', '=', 'service_key')
        .orderBy('api_keys.created_at', 'desc')
        .orderBy('api_keys.id')
        .execute()
      return rows.map(row => ({
        ...toApiKey(row),
        level: row.level as Level,
        user: readUser(row, 'service'),
        createdBy: readUser(row, 'creator'),
      }))
    },
    /** API keys without sign-ins, newest first. */
    async listKeys(userId: number): Promise<readonly ApiKey[]> {
      const rows = await db
        .selectFrom('api_keys')
        .selectAll()
        .where('user_id', '=', userId)
        .where('is_session', '=', 0)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .execute()
      return rows.map(toApiKey)
    },
    async findKey(userId: number, keyId: string): Promise<ApiKey | undefined> {
      const row = await db
        .selectFrom('api_keys')
        .selectAll()
        .where('user_id', '=', userId)
        .where('id', '=', keyId)
        .executeTakeFirst()
      return row && toApiKey(row)
    },
    /** False when there was none. */
    async removeKey(userId: number, keyId: string): Promise<boolean> {
      const result = await db
        .deleteFrom('api_keys')
        .where('user_id', '=', userId)
        .where('id', '=', keyId)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },
    /** Revokes the sign-ins of the user, pending ones and reset links included, or, with `all`, every key. */
    async removeKeys(userId: number, which: 'sessions' | 'all'): Promise<void> {
      await db.deleteFrom('account_tokens').where('user_id', '=', userId).execute()
      await db.deleteFrom('sign_ins').where('user_id', '=', userId).execute()
      let removal = db.deleteFrom('api_keys').where('user_id', '=', userId)
      if (which === 'sessions') removal = removal.where('is_session', '=', 1)
      await removal.execute()
    },
    /** Ends every sign-in, and those that are pending, with all reset links. Returns whose there were. */
    async removeAllSessions(): Promise<readonly number[]> {
      await db.deleteFrom('account_tokens').execute()
      const keys = await db.deleteFrom('api_keys').where('is_session', '=', 1).returning('user_id').execute()
      // Each can be continued with a refresh token, also when its key has expired.
      const signIns = await db.deleteFrom('sign_ins').returning('user_id').execute()
      return [...new Set([...keys, ...signIns].map(row => row.user_id))]
    },
    /** Revokes the keys and sessions that reach nothing outside of the organization. */
    async removeKeysWithin(userId: number, organizationId: string): Promise<void> {
      const projects = await db
        .selectFrom('projects')
        .select('id')
        .where('organization_id', '=', organizationId)
        .execute()
      const projectIds = new Set(projects.map(({ id }) => id))
      const rows = await db.selectFrom('api_keys').selectAll().where('user_id', '=', userId).execute()
      const confined = rows.map(toApiKey).filter(key => {
        const isInProjects = key.projectIds.length > 0 && key.projectIds.every(id => projectIds.has(id))
        if (key.organizationIds.length === 0) return isInProjects
        return key.organizationIds.every(id => id === organizationId) && (key.projectIds.length === 0 || isInProjects)
      })
      if (confined.length === 0) return
      const signInIds = confined.flatMap(({ signInId }) => signInId ?? [])
      await db
        .deleteFrom('api_keys')
        .where(
          'id',
          'in',
          confined.map(({ id }) => id),
        )
        .execute()
      if (signInIds.length > 0) await db.deleteFrom('sign_ins').where('id', 'in', signInIds).execute()
    },
    async removeKeysExpiredBefore(at: Instant): Promise<number> {
      await db.deleteFrom('sign_ins').where('expires_at', '<', at).execute()
      const result = await db.deleteFrom('api_keys').where('expires_at', '<', at).executeTakeFirst()
      return Number(result.numDeletedRows)
    },
  }
}

export type IdentityStore = ReturnType<typeof sqlIdentityStore>

type MemberRow = Selectable<Tables['users']> & {
  readonly member_of: string | null
  readonly member_level: number | null
}

/** From the rows of one user, one for each membership. */
function toActor(key: ApiKey, rows: readonly MemberRow[]): Actor {
  const user = rows[0]!
  const levels = new Map<string, Level>()
  for (const row of rows) if (row.member_of) levels.set(row.member_of, row.member_level as Level)
  return {
    user: toUser(user),
    // A key for some organizations, such as a session with the provider of one, does not administer the instance.
    isStaff: user.is_staff === 1 && key.organizationIds.length === 0,
    isService: user.is_service === 1,
    key,
    levels,
    currentOrganizationId: user.current_organization_id,
    currentProjectId: user.current_project_id,
  }
}

/** A session with a password does not reach organizations that require single sign-on, except for their owner. */
function withoutSingleSignOn(
  actor: Actor,
  rows: readonly (MemberRow & { readonly requires_single_sign_on: number | null })[],
): Actor {
  if (!actor.key.isSession || actor.key.organizationIds.length > 0) return actor
  const barred = rows.filter(row => row.requires_single_sign_on === 1 && (row.member_level ?? 0) < ownerLevel)
  if (barred.length === 0) return actor
  const levels = new Map(actor.levels)
  for (const { member_of: organizationId } of barred) levels.delete(organizationId ?? '')
  return { ...actor, levels }
}

const toUser = (
  row: Pick<Selectable<Tables['users']>, 'id' | 'uuid' | 'distinct_id' | 'first_name' | 'email' | 'is_email_verified'>,
): User => ({
  id: row.id,
  uuid: row.uuid,
  distinctId: row.distinct_id,
  firstName: row.first_name,
  email: row.email,
  isEmailVerified: row.is_email_verified === 1,
})

const toAccount = (row: Selectable<Tables['users']>): Account => ({
  ...toUser(row),
  passwordHash: row.password_hash,
  isActive: row.is_active === 1,
  isStaff: row.is_staff === 1,
  currentOrganizationId: row.current_organization_id,
  currentProjectId: row.current_project_id,
  dateJoined: row.date_joined,
  hasRequestEmails: row.change_request_emails === 1,
  language: row.language as UserLanguage | null,
})

const toApiKey = (row: Selectable<Tables['api_keys']>): ApiKey => ({
  id: row.id,
  userId: row.user_id,
  label: row.label,
  hash: row.hash,
  mask: row.mask,
  scopes: canonicalScopes(JSON.parse(row.scopes)),
  projectIds: JSON.parse(row.scoped_teams),
  organizationIds: JSON.parse(row.scoped_organizations),
  isSession: row.is_session === 1,
  signInId: row.sign_in_id,
  trustRelationshipId: row.trust_relationship_id,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
  expiresAt: row.expires_at,
})

const fromApiKey = (key: ApiKey): Tables['api_keys'] => ({
  id: key.id,
  user_id: key.userId,
  label: key.label,
  hash: key.hash,
  mask: key.mask,
  scopes: JSON.stringify(key.scopes),
  scoped_teams: JSON.stringify(key.projectIds),
  scoped_organizations: JSON.stringify(key.organizationIds),
  is_session: Number(key.isSession),
  sign_in_id: key.signInId ?? null,
  trust_relationship_id: key.trustRelationshipId ?? null,
  created_at: key.createdAt,
  last_used_at: key.lastUsedAt,
  expires_at: key.expiresAt,
})

function takenEmail(error: unknown): unknown {
  return uniqueViolation(error)?.includes('email')
    ? invalid('email', 'unique', 'An account with this email address already exists.')
    : error
}
