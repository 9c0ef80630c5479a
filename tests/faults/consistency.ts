import { isDeepStrictEqual } from 'node:util'
import { contentOf } from '../../packages/server/src/flags/flag.ts'
import { openStorage } from '../../packages/server/src/storage/open-storage.ts'
import { createSqlDatabase } from '../../packages/server/src/storage/sql-database.ts'
import { sqlStores } from '../../packages/server/src/stores.sql.ts'
import type { Write } from './mixed-writes.ts'

/** Compares what was acknowledged with what is there, and what is there with itself. Answers every fault found, as sentences. */
export async function findFaults(databaseUrl: string, writes: readonly Write[]): Promise<string[]> {
  const storage = openStorage(databaseUrl)
  try {
    const { kysely: db } = storage
    const database = createSqlDatabase(db, sqlStores, async () => {})
    const faults: string[] = []
    const flags = await db.selectFrom('flags').selectAll().execute()
    const versions = await db.selectFrom('flag_versions').selectAll().orderBy('version').execute()
    const activity = await db
      .selectFrom('activity')
      .select(['item_id', 'activity'])
      .where('scope', '=', 'FeatureFlag')
      .where('activity', 'in', ['created', 'updated'])
      .execute()
    const changes = await db.selectFrom('changes').select(['sequence', 'topic', 'entity_id']).execute()
    const head = await db.selectFrom('change_head').select('sequence').executeTakeFirstOrThrow()

    const versionsOf = groupBy(versions, row => row.flag_id)
    const activityOf = groupBy(activity, row => row.item_id)
    const changesOf = groupBy(
      changes.filter(change => change.topic === 'flag'),
      row => row.entity_id,
    )
    for (const row of flags) {
      const own = versionsOf.get(row.id) ?? []
      const numbers = own.map(version => version.version)
      if (
        !isDeepStrictEqual(
          numbers,
          Array.from({ length: row.version }, (_, index) => index + 1),
        )
      ) {
        faults.push(`Flag ${row.id} is at version ${row.version} but has the versions ${numbers.join(', ')}.`)
      }
      const entries = activityOf.get(String(row.id))?.length ?? 0
      if (entries !== row.version)
        faults.push(`Flag ${row.id} is at version ${row.version} but has ${entries} activity entries.`)
      const told = changesOf.get(String(row.id))?.length ?? 0
      if (told < row.version) faults.push(`Flag ${row.id} is at version ${row.version} but told ${told} changes.`)
    }
    await database.read(async tx => {
      for (const { id, project_id, version } of flags) {
        const flag = await tx.flags.find(project_id, id)
        const kept = await tx.flags.findVersion(id, version)
        if (!flag || !kept || !isDeepStrictEqual(contentOf(flag), kept.content))
          faults.push(`Flag ${id} differs from its version ${version}.`)
      }
    })
    const highest = Math.max(0, ...changes.map(change => change.sequence))
    if (head.sequence !== highest) faults.push(`The change log ends at ${highest}, its head says ${head.sequence}.`)
    if (new Set(changes.map(change => change.sequence)).size !== highest)
      faults.push(`The change log has ${changes.length} entries up to ${highest}.`)
    for (const flag of flags) {
      if (!flag.usage_dashboard_id) faults.push(`Flag ${flag.id} has no usage dashboard.`)
    }

    const roles = await db.selectFrom('roles').select('name').execute()
    const grants = await db.selectFrom('flag_role_access').select(['flag_id', 'role_id']).execute()
    const keys = await db.selectFrom('api_keys').select('label').execute()
    const found: Record<Write['kind'], Map<string, number>> = {
      flag: countOf(versions.map(version => (JSON.parse(version.snapshot) as { name: string }).name)),
      role: countOf(roles.map(role => role.name)),
      grant: countOf(grants.map(grant => `${grant.flag_id} ${grant.role_id}`)),
      key: countOf(keys.map(key => key.label)),
    }
    for (const write of writes) {
      const times = found[write.kind].get(write.marker) ?? 0
      if (write.outcome === 'acknowledged' && times !== 1)
        faults.push(`${write.kind} ${write.marker} was acknowledged and is there ${times} times.`)
      if (write.outcome === 'unknown' && times > 1)
        faults.push(`${write.kind} ${write.marker} was not acknowledged and is there ${times} times.`)
      // A grant has no text of its own: a second one for the same role is refused because the first is there.
      if (write.outcome === 'refused' && times > 0 && write.kind !== 'grant')
        faults.push(`${write.kind} ${write.marker} was refused (${write.status}) and is there.`)
    }
    return faults
  } finally {
    await storage.close()
  }
}

function countOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}
