import { foldCase } from '../migrations/0014-fold-case.ts'
import type { Migration, SchemaBuilder } from '../migrations/migration.ts'

/**
 * The same tables as in the main database, without the references to others. On PostgreSQL they are partitioned by hash: what belongs to a
 * project by its id, what belongs to one person by theirs. Statements name the key, so that each reads one partition.
 */
export const persons: Migration = {
  version: 1,
  name: 'persons',
  async up(schema) {
    const { run } = schema
    const types = typesOf(schema)
    const { text, integer, id } = types
    await run(`create table instance (name ${text} primary key, value ${text} not null)`)
    await run(
      `create table changes (sequence ${integer} primary key, topic ${text} not null, organization_id ${text},
        project_id ${integer}, entity_id ${text} not null, at ${text} not null)`,
    )
    await run(`create table change_head (id ${integer} primary key, sequence ${integer} not null)`)
    await run('insert into change_head (id, sequence) values (1, 0)')
    await run(`create table received_batches (id ${text} primary key, received_at ${text} not null)`)
    await run('create index received_batches_by_age on received_batches (received_at)')

    await types.partitioned(
      'persons',
      'project_id',
      `id ${id('persons')}, project_id ${integer} not null, uuid ${text} not null, properties ${text} not null,
        email ${text}, is_identified ${integer} not null, distinct_id_count ${integer} not null,
        version ${integer} not null, created_at ${text} not null, unique (project_id, uuid)`,
      'id',
    )
    if (!schema.isPostgres) await run('create index persons_by_project on persons (project_id, id)')
    await run('create index persons_by_email on persons (project_id, email) where email is not null')

    await types.partitioned(
      'person_distinct_ids',
      'project_id',
      `project_id ${integer} not null, distinct_id ${text} not null, person_id ${integer} not null,
        primary key (project_id, distinct_id)`,
    )
    await run('create index person_distinct_ids_by_person on person_distinct_ids (person_id)')

    await types.partitioned(
      'groups',
      'project_id',
      `id ${id('groups')}, project_id ${integer} not null, type_index ${integer} not null, key ${text} not null,
        properties ${text} not null, version ${integer} not null, created_at ${text} not null,
        unique (project_id, type_index, key)`,
      'id',
    )
    await run('create index groups_by_type on "groups" (project_id, type_index, id)')

    await types.partitioned(
      'hash_key_overrides',
      'person_id',
      `person_id ${integer} not null, flag_key ${text} not null, hash_key ${text} not null,
        primary key (person_id, flag_key)`,
    )
    await types.partitioned(
      'cohort_people',
      'person_id',
      `cohort_id ${integer} not null, person_id ${integer} not null, primary key (cohort_id, person_id)`,
    )
    await run('create index cohort_people_by_person on cohort_people (person_id, cohort_id)')
    await types.partitioned(
      'person_event_days',
      'person_id',
      `person_id ${integer} not null, event_id ${integer} not null, day ${integer} not null,
        count ${integer} not null, is_kept ${integer} not null, primary key (person_id, event_id, day)`,
    )
    await run('create index person_event_days_by_day on person_event_days (event_id, is_kept, day)')
    await types.partitioned('person_seen', 'person_id', `person_id ${integer} primary key, seen_on ${text} not null`)
    await run('create index person_seen_by_day on person_seen (seen_on, person_id)')
    await foldCase.up(schema)
  },
}

export const partitions = 16

/** What differs between the two databases, as text. */
function typesOf({ run, isPostgres }: SchemaBuilder) {
  const [text, integer] = isPostgres ? ['text collate "C"', 'bigint'] : ['text', 'integer']
  return {
    text,
    integer,
    // Identity columns of partitioned tables need PostgreSQL 17.
    id: (table: string) =>
      isPostgres ? `bigint not null default nextval('${table}_id_seq')` : 'integer primary key autoincrement',
    async partitioned(table: string, key: string, columns: string, numbered?: 'id'): Promise<void> {
      if (!isPostgres) return run(`create table "${table}" (${columns})`)
      if (numbered) await run(`create sequence ${table}_id_seq`)
      const primaryKey = numbered ? `, primary key (${key}, id)` : ''
      await run(`create table "${table}" (${columns}${primaryKey}) partition by hash (${key})`)
      if (numbered) await run(`alter sequence ${table}_id_seq owned by "${table}".id`)
      for (let remainder = 0; remainder < partitions; remainder++) {
        const values = `for values with (modulus ${partitions}, remainder ${remainder})`
        await run(`create table "${table}_${remainder}" partition of "${table}" ${values}`)
      }
    },
  }
}
