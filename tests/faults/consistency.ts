import { isDeepStrictEqual } from 'node:util'
import type { Kysely } from 'kysely'
import { contentOf } from '../../packages/server/src/domain/flag.ts'
import { openStorage } from '../../packages/server/src/storage/open-storage.ts'
import { createSqlDatabase } from '../../packages/server/src/storage/sql-database.ts'
import type { Tables } from '../../packages/server/src/storage/tables.generated.ts'
import { sqlStores } from '../../packages/server/src/stores.ts'
import type { Write, WriteKind } from './mixed-writes.ts'

/** Compares acknowledged writes with the database, and checks the invariants of the database. Returns every violation as a sentence. */
export async function findFaults(
  databaseUrl: string,
  writes: readonly Write[],
  personsUrl = databaseUrl,
): Promise<string[]> {
  const storage = openStorage(databaseUrl)
  const persons = openStorage(personsUrl)
  try {
    const { kysely: db } = storage
    const database = createSqlDatabase(storage, sqlStores, async () => {})
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
      const announced = changesOf.get(String(row.id))?.length ?? 0
      if (announced < row.version)
        faults.push(`Flag ${row.id} is at version ${row.version} but has ${announced} change-log rows.`)
    }
    await database.read(async tx => {
      for (const { id, project_id, version } of flags) {
        const flag = await tx.flags.find(project_id, id)
        const stored = await tx.flags.findVersion(id, version)
        if (!flag || !stored || !isDeepStrictEqual(contentOf(flag), stored.content))
          faults.push(`Flag ${id} differs from its version ${version}.`)
      }
    })
    const highest = Math.max(0, ...changes.map(change => change.sequence))
    if (head.sequence !== highest) faults.push(`The change log ends at ${highest}, but its head is ${head.sequence}.`)
    if (new Set(changes.map(change => change.sequence)).size !== highest)
      faults.push(`The change log has ${changes.length} entries up to ${highest}.`)
    for (const flag of flags) {
      if (!flag.usage_dashboard_id) faults.push(`Flag ${flag.id} has no usage dashboard.`)
    }

    faults.push(...(await countWrites(db, persons.kysely, writes)))
    return faults
  } finally {
    await persons.close()
    await storage.close()
  }
}

/** Checks responses against the database: acknowledged writes exist once, others at most once, and none partially. */
async function countWrites(db: Kysely<Tables>, persons: Kysely<Tables>, writes: readonly Write[]): Promise<string[]> {
  const found = await whatIsThere(db, persons)
  const expected = new Map<string, { write: Write; marker: string; least: number; most: number }>()
  const faults: string[] = []
  for (const write of writes) {
    for (const marker of write.markers) {
      const name = `${write.kind} ${marker}`
      const before = expected.get(name) ?? { write, marker, least: 0, most: 0 }
      expected.set(name, { ...before, write, ...boundsAfter(before, write) })
    }
    const there = write.markers.filter(marker => found[write.kind].has(marker)).length
    if (there > 0 && there < write.markers.length)
      faults.push(`${write.kind} ${write.markers.join(', ')} (${write.outcome}) is stored partially.`)
  }
  for (const [name, { write, marker, least, most }] of expected) {
    const times = found[write.kind].get(marker) ?? 0
    if (times < least || times > most)
      faults.push(`${name} was ${write.outcome} (${write.status}, ${write.effect}) and is stored ${times} times.`)
  }
  return faults
}

function boundsAfter(before: { least: number; most: number }, { effect, outcome }: Write) {
  if (outcome === 'refused') return before
  const after = effect === 'adds' ? 1 : 0
  if (outcome === 'acknowledged') return { least: after, most: after }
  return { least: Math.min(before.least, after), most: Math.max(before.most, after) }
}

async function whatIsThere(
  db: Kysely<Tables>,
  persons: Kysely<Tables>,
): Promise<Record<WriteKind, Map<string, number>>> {
  // A copy has the name of its original, so copies are found by key.
  const versions = await db
    .selectFrom('flag_versions')
    .innerJoin('flags', 'flags.id', 'flag_versions.flag_id')
    .select('flag_versions.snapshot')
    .where('flags.project_id', '=', ({ selectFrom }) =>
      selectFrom('projects').select(({ fn }) => fn.min('id').as('id')),
    )
    .execute()
  const flags = await db.selectFrom('flags').select(['key', 'project_id']).execute()
  const roles = await db.selectFrom('roles').select('name').execute()
  const grants = await db.selectFrom('flag_role_access').select(['flag_id', 'role_id']).execute()
  const keys = await db.selectFrom('api_keys').select('label').execute()
  const plugins = await db.selectFrom('plugins').select('name').execute()
  const files = await db.selectFrom('plugin_files').select('name').execute()
  const configs = await db.selectFrom('plugin_configs').select('name').execute()
  const cohorts = await db.selectFrom('cohorts').select('name').execute()
  const activity = await db.selectFrom('activity').select('detail').where('scope', '!=', 'FeatureFlag').execute()
  const schedules = await db.selectFrom('scheduled_changes').select('payload').execute()
  const projects = await db.selectFrom('projects').select('name').execute()
  const people = await persons.selectFrom('person_distinct_ids').select('distinct_id').execute()
  return {
    flag: countOf(versions.map(({ snapshot }) => (JSON.parse(snapshot) as { name: string }).name)),
    role: countOf(roles.map(role => role.name)),
    grant: countOf(grants.map(grant => `${grant.flag_id} ${grant.role_id}`)),
    key: countOf(keys.map(key => key.label)),
    plugin: countOf(plugins.map(plugin => plugin.name)),
    file: countOf(files.map(file => file.name)),
    config: countOf(configs.map(config => config.name ?? '')),
    cohort: countOf(cohorts.map(cohort => cohort.name)),
    change: countOf(
      activity.flatMap(({ detail }) =>
        (JSON.parse(detail) as { changes: { after: unknown }[] }).changes.map(change => String(change.after)),
      ),
    ),
    schedule: countOf(schedules.map(({ payload }) => (JSON.parse(payload) as { value: { name: string } }).value.name)),
    project: countOf(projects.map(project => project.name)),
    copy: countOf(flags.map(flag => `${flag.key} in ${flag.project_id}`)),
    person: countOf(people.map(person => person.distinct_id)),
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
