import type { Kysely, Selectable } from 'kysely'
import type { Instant } from '../../../instant.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import { type ListedSignIn, type SignIn, type SignInMethod, signInsPerUserMax } from './sign-in.ts'

export function sqlSignInStore(db: Kysely<Tables>) {
  return {
    /** The oldest sign-ins beyond the limit are ended. */
    async create(signIn: SignIn): Promise<void> {
      await db
        .insertInto('sign_ins')
        .values({
          id: signIn.id,
          user_id: signIn.userId,
          refresh_hash: signIn.refreshHash,
          method: signIn.method,
          proven_at: signIn.provenAt,
          user_agent: signIn.userAgent,
          address: signIn.address,
          created_at: signIn.createdAt,
          expires_at: signIn.expiresAt,
          provider_id: signIn.provider?.id ?? null,
          provider_session_id: signIn.provider?.sessionId ?? null,
          id_token: signIn.provider?.idToken ?? null,
        })
        .execute()
      const excess = db
        .selectFrom('sign_ins')
        .select('id')
        .where('user_id', '=', signIn.userId)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(1000)
        .offset(signInsPerUserMax)
      await db.deleteFrom('sign_ins').where('id', 'in', excess).execute()
    },
    async recordProof(id: string, at: Instant): Promise<void> {
      await db.updateTable('sign_ins').set({ proven_at: at }).where('id', '=', id).execute()
    },
    async findByRefreshHash(hash: string): Promise<SignIn | undefined> {
      const row = await db.selectFrom('sign_ins').selectAll().where('refresh_hash', '=', hash).executeTakeFirst()
      return row && toSignIn(row)
    },
    /** Those that are not expired, newest first. */
    async list(userId: number, now: Instant): Promise<readonly ListedSignIn[]> {
      const rows = await db
        .selectFrom('sign_ins')
        .selectAll()
        .select(({ selectFrom }) =>
          selectFrom('api_keys')
            .select(({ fn }) => fn.max('api_keys.last_used_at').as('at'))
            .whereRef('api_keys.sign_in_id', '=', 'sign_ins.id')
            .as('last_used_at'),
        )
        .where('user_id', '=', userId)
        .where('expires_at', '>', now)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .execute()
      return rows.map(row => ({ ...toSignIn(row), lastUsedAt: row.last_used_at ?? row.created_at }))
    },
    async find(userId: number, id: string): Promise<SignIn | undefined> {
      const row = await db
        .selectFrom('sign_ins')
        .selectAll()
        .where('user_id', '=', userId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row && toSignIn(row)
    },
    /** Ends those of a user, or of a session at the provider, with their keys. Returns whose they were. */
    async removeOfProvider(
      providerId: string,
      { userId, sessionId }: { readonly userId?: number | undefined; readonly sessionId?: string | undefined },
    ): Promise<readonly number[]> {
      let removal = db.deleteFrom('sign_ins').where('provider_id', '=', providerId)
      if (userId !== undefined) removal = removal.where('user_id', '=', userId)
      if (sessionId !== undefined) removal = removal.where('provider_session_id', '=', sessionId)
      const rows = await removal.returning('user_id').execute()
      return [...new Set(rows.map(row => row.user_id))]
    },
    /** Revokes its keys as well. False when there was none. */
    async remove(userId: number, id: string): Promise<boolean> {
      const result = await db
        .deleteFrom('sign_ins')
        .where('user_id', '=', userId)
        .where('id', '=', id)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },
    /** Revokes all keys of the sign-in but the newest. */
    async trimKeys(id: string, keptMax: number): Promise<void> {
      const excess = db
        .selectFrom('api_keys')
        .select('id')
        .where('sign_in_id', '=', id)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(1000)
        .offset(keptMax)
      await db.deleteFrom('api_keys').where('id', 'in', excess).execute()
    },
  }
}

const toSignIn = (row: Selectable<Tables['sign_ins']>): SignIn => ({
  id: row.id,
  userId: row.user_id,
  refreshHash: row.refresh_hash,
  method: row.method as SignInMethod,
  provenAt: row.proven_at ?? row.created_at,
  userAgent: row.user_agent,
  address: row.address,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  provider:
    row.provider_id === null
      ? null
      : { id: row.provider_id, sessionId: row.provider_session_id, idToken: row.id_token },
})
