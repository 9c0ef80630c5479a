import type { Kysely } from 'kysely'
import type { InstanceStore } from '../instance-store.ts'
import type { Tables } from './tables.generated.ts'

export const sqlInstanceStore = (db: Kysely<Tables>): InstanceStore => ({
  async findOrCreate(name, value) {
    await db
      .insertInto('instance')
      .values({ name, value })
      .onConflict(conflict => conflict.column('name').doNothing())
      .execute()
    const row = await db.selectFrom('instance').select('value').where('name', '=', name).executeTakeFirstOrThrow()
    return row.value
  },
  async find(name) {
    const row = await db.selectFrom('instance').select('value').where('name', '=', name).executeTakeFirst()
    return row?.value
  },
  async remove(name) {
    await db.deleteFrom('instance').where('name', '=', name).execute()
  },
})
