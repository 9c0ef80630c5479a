import type { Kysely } from 'kysely'
import type { Instant } from '../../instant.ts'
import type { Tables } from '../../storage/tables.generated.ts'

/** What a token is good for. */
export type TokenPurpose = 'password_reset' | 'sign_in' | 'used_passkey' | 'new_code' | 'new_passkey' | 'proof'

export interface AccountToken {
  /** SHA-256 of the token, which is stored nowhere. */
  readonly hash: string
  readonly userId: number
  readonly purpose: TokenPurpose
  /** What the second step needs of the first, as JSON. */
  readonly data: string
  readonly expiresAt: Instant
}

/** Secrets of accounts that are short-lived and work once: reset links, pending sign-ins, challenges. */
export function sqlAccountTokenStore(db: Kysely<Tables>) {
  const live = (hash: string, purpose: TokenPurpose, now: Instant) =>
    db
      .selectFrom('account_tokens')
      .selectAll()
      .where('hash', '=', hash)
      .where('purpose', '=', purpose)
      .where('expires_at', '>', now)

  return {
    /** Replaces older tokens of the user for the same purpose. False when it exists. */
    async create({ hash, userId, purpose, data, expiresAt }: AccountToken, now: Instant): Promise<boolean> {
      await db.deleteFrom('account_tokens').where('expires_at', '<=', now).execute()
      const stored = db.selectFrom('account_tokens').where('user_id', '=', userId).where('purpose', '=', purpose)
      const excess = stored
        .select('hash')
        .orderBy('expires_at', 'desc')
        .limit(1000)
        .offset((keptMax[purpose] ?? 1) - 1)
      await db.deleteFrom('account_tokens').where('hash', 'in', excess).execute()
      const result = await db
        .insertInto('account_tokens')
        .values({ hash, user_id: userId, purpose, data, attempts: 0, expires_at: expiresAt })
        .onConflict(conflict => conflict.column('hash').doNothing())
        .executeTakeFirst()
      return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
    },
    async find(hash: string, purpose: TokenPurpose, now: Instant): Promise<AccountToken | undefined> {
      const row = await live(hash, purpose, now).executeTakeFirst()
      return row && { hash, userId: row.user_id, purpose, data: row.data, expiresAt: row.expires_at }
    },
    /** Uses the token up. Of two requests at once, one gets false. */
    async consume(hash: string): Promise<boolean> {
      const result = await db.deleteFrom('account_tokens').where('hash', '=', hash).executeTakeFirst()
      return result.numDeletedRows > 0n
    },
    /** Counts a wrong answer, and removes the token at the last one that it allows. */
    async countAttempt(hash: string): Promise<void> {
      await db
        .updateTable('account_tokens')
        .set(({ eb }) => ({ attempts: eb('attempts', '+', 1) }))
        .where('hash', '=', hash)
        .execute()
      await db.deleteFrom('account_tokens').where('hash', '=', hash).where('attempts', '>=', attemptsMax).execute()
    },
  }
}

/** One, except where several browsers of a user have one each. */
const keptMax: Partial<Record<TokenPurpose, number>> = { sign_in: 10, used_passkey: 100 }
const attemptsMax = 5
