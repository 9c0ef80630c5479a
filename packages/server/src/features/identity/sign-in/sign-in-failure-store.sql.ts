import { type Kysely, sql } from 'kysely'
import type { Instant } from '../../../instant.ts'
import type { Tables } from '../../../storage/tables.generated.ts'

/** Wrong passwords on all nodes. Failures outside the window do not count, nor those that a wrong clock dated ahead. */
export function sqlSignInFailureStore(db: Kysely<Tables>) {
  return {
    /** The keys that have failures in the window. */
    find: (keys: readonly string[], { from, to }: SignInWindow): Promise<readonly SignInFailures[]> =>
      db
        .selectFrom('sign_in_failures')
        .selectAll()
        .where('key', 'in', keys)
        .where('since', '>', from)
        .where('since', '<=', to)
        .execute(),
    /** Adds one failure to each key; returns the new counts. */
    async add(keys: readonly string[], { now, from, to }: SignInWindow): Promise<readonly SignInFailures[]> {
      // In one order, so that two nodes cannot deadlock.
      const rows = keys.toSorted().map(key => sql`(${key}, 1, ${now})`)
      const counted = sql`sign_in_failures.since > ${from} and sign_in_failures.since <= ${to}`
      const result = await sql<SignInFailures>`
        insert into sign_in_failures (key, count, since) values ${sql.join(rows)}
        on conflict (key) do update set
          count = case when ${counted} then sign_in_failures.count + 1 else 1 end,
          since = case when ${counted} then sign_in_failures.since else excluded.since end
        returning key, count, since`.execute(db)
      return result.rows
    },
    async remove(key: string): Promise<void> {
      await db.deleteFrom('sign_in_failures').where('key', '=', key).execute()
    },
    async removeOutside({ from, to }: SignInWindow): Promise<void> {
      await db
        .deleteFrom('sign_in_failures')
        .where(({ or, eb }) => or([eb('since', '<=', from), eb('since', '>', to)]))
        .execute()
    },

    /** When the last sign-in with this key (an account and an address) succeeded. */
    async findSuccess(key: string): Promise<Instant | undefined> {
      const row = await db.selectFrom('known_sign_ins').select('last_at').where('key', '=', key).executeTakeFirst()
      return row?.last_at
    },
    async recordSuccess(key: string, at: Instant): Promise<void> {
      await db
        .insertInto('known_sign_ins')
        .values({ key, last_at: at })
        .onConflict(conflict => conflict.column('key').doUpdateSet({ last_at: at }))
        .execute()
    },
    async removeSuccessesBefore(at: Instant): Promise<void> {
      await db.deleteFrom('known_sign_ins').where('last_at', '<', at).execute()
    },
  }
}

/** How often a password was wrong, for an account or from an address, since the first time within the window. */
export interface SignInFailures {
  readonly key: string
  readonly count: number
  readonly since: Instant
}

export interface SignInWindow {
  readonly now: Instant
  readonly from: Instant
  readonly to: Instant
}
