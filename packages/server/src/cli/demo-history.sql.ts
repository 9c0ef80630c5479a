import { instantOf } from '../instant.ts'
import type { Storage } from '../storage/open-storage.ts'

/**
 * What the demo did a moment ago gets the times at which its team is said to have done it. No API does that: history is not
 * rewritten. So it happens only on the database of this very project, known by its token; anywhere else nothing is touched.
 */
export async function dateHistory(storage: Storage, token: string, times: readonly Date[]): Promise<void> {
  await storage.kysely.transaction().execute(async tx => {
    const project = await tx.selectFrom('projects').select('id').where('api_token', '=', token).executeTakeFirst()
    if (!project) return
    const entries = await tx
      .selectFrom('activity')
      .select(['id', 'item_id'])
      .where('project_id', '=', project.id)
      .where('scope', '=', 'FeatureFlag')
      .orderBy('id')
      .limit(times.length)
      .execute()
    const versions = new Map<string, number>()
    for (const [index, { id, item_id }] of entries.entries()) {
      const created_at = instantOf(times[index] as Date)
      const version = (versions.get(item_id) ?? 0) + 1
      versions.set(item_id, version)
      await tx.updateTable('activity').set({ created_at }).where('id', '=', id).execute()
      await tx
        .updateTable('flag_versions')
        .set({ created_at })
        .where('flag_id', '=', Number(item_id))
        .where('version', '=', version)
        .execute()
    }
  })
}
