import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../../storage/tables.generated.ts'
import type { SignInFailureStore, SignInFailures } from './sign-in-failure-store.ts'

export function sqlSignInFailureStore(db: Kysely<Tables>): SignInFailureStore {
  return {
    find: (keys, { from, to }) =>
      db
        .selectFrom('sign_in_failures')
        .selectAll()
        .where('key', 'in', keys)
        .where('since', '>', from)
        .where('since', '<=', to)
        .execute(),
    async add(keys, { now, from, to }) {
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
    async remove(key) {
      await db.deleteFrom('sign_in_failures').where('key', '=', key).execute()
    },
    async removeOutside({ from, to }) {
      await db
        .deleteFrom('sign_in_failures')
        .where(({ or, eb }) => or([eb('since', '<=', from), eb('since', '>', to)]))
        .execute()
    },

    async findSuccess(key) {
      const row = await db.selectFrom('known_sign_ins').select('last_at').where('key', '=', key).executeTakeFirst()
      return row?.last_at
    },
    async recordSuccess(key, at) {
      await db
        .insertInto('known_sign_ins')
        .values({ key, last_at: at })
        .onConflict(conflict => conflict.column('key').doUpdateSet({ last_at: at }))
        .execute()
    },
    async removeSuccessesBefore(at) {
      await db.deleteFrom('known_sign_ins').where('last_at', '<', at).execute()
    },
  }
}
