import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../../../storage/tables.generated.ts'
import { storageCharactersMax, storageKeysMax } from '../plugin-work.ts'

/** What plugins keep under keys of their own, by configuration. */
export function sqlPluginStorageStore(db: Kysely<Tables>) {
  return {
    async get(configId: number, key: string): Promise<unknown> {
      const row = await db
        .selectFrom('plugin_storage')
        .select('value')
        .where('config_id', '=', configId)
        .where('key', '=', key)
        .executeTakeFirst()
      return row ? JSON.parse(row.value) : null
    },
    /** Raises an Error when the configuration's storage would outgrow its limit. */
    async set(configId: number, key: string, value: unknown): Promise<void> {
      const text = JSON.stringify(value ?? null)
      await db
        .insertInto('plugin_storage')
        .values({ config_id: configId, key, value: text })
        .onConflict(conflict => conflict.columns(['config_id', 'key']).doUpdateSet({ value: text }))
        .execute()
      const used = await db
        .selectFrom('plugin_storage')
        .select(({ fn }) => [
          fn.countAll<number>().as('keys'),
          sql<number>`sum(length(key) + length(value))`.as('characters'),
        ])
        .where('config_id', '=', configId)
        .executeTakeFirstOrThrow()
      if (Number(used.keys) > storageKeysMax || Number(used.characters) > storageCharactersMax) {
        throw new Error('The storage of this plugin is full.')
      }
    },
    async remove(configId: number, key: string): Promise<void> {
      await db.deleteFrom('plugin_storage').where('config_id', '=', configId).where('key', '=', key).execute()
    },
  }
}
