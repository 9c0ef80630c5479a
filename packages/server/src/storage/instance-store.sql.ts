import type { Kysely } from 'kysely'
import { type Instant, instantOf } from '../instant.ts'
import type { Tables } from './tables.generated.ts'

export const sqlInstanceStore = (db: Kysely<Tables>) => ({
  /** The value of that name; when there is none, this one is stored, for every node. */
  async findOrCreate(name: string, value: string): Promise<string> {
    await db
      .insertInto('instance')
      .values({ name, value, created_at: instantOf(new Date()) })
      .onConflict(conflict => conflict.column('name').doNothing())
      .execute()
    const row = await db.selectFrom('instance').select('value').where('name', '=', name).executeTakeFirstOrThrow()
    return row.value
  },
  async find(name: string): Promise<string | undefined> {
    const row = await db.selectFrom('instance').select('value').where('name', '=', name).executeTakeFirst()
    return row?.value
  },
  /** Null for a value that is older than the column. */
  async findCreatedAt(name: string): Promise<Instant | null> {
    const row = await db.selectFrom('instance').select('created_at').where('name', '=', name).executeTakeFirst()
    return row?.created_at ?? null
  },
  async remove(name: string): Promise<void> {
    await db.deleteFrom('instance').where('name', '=', name).execute()
  },
})

/** Single values that belong to the installation as a whole. */
export type InstanceStore = ReturnType<typeof sqlInstanceStore>

/** With PostgreSQL and no configured key: what the secrets of the installation are encrypted with. */
export const secretKeyName = 'secret_key'
