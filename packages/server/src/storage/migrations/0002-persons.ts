import type { Migration } from './migration.ts'

/** Who exists (persons, their distinct ids, groups, hash keys of experience continuity) and what is counted from events. */
export const persons: Migration = {
  version: 2,
  name: 'persons',
  async up({ db, text, integer, idType, id, run }) {
    await db.schema
      .createTable('persons')
      .addColumn('id', idType, id)
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('uuid', text, c => c.notNull().unique())
      .addColumn('properties', text, c => c.notNull())
      .addColumn('email', text)
      .addColumn('is_identified', integer, c => c.notNull())
      .addColumn('distinct_id_count', integer, c => c.notNull())
      .addColumn('version', integer, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .execute()
    await run('create index persons_by_project on persons (project_id, id)')
    await run('create index persons_by_email on persons (project_id, email) where email is not null')

    await db.schema
      .createTable('person_distinct_ids')
      .addColumn('project_id', integer, c => c.notNull())
      .addColumn('distinct_id', text, c => c.notNull())
      .addColumn('person_id', integer, c => c.notNull().references('persons.id').onDelete('cascade'))
      .addPrimaryKeyConstraint('person_distinct_ids_key', ['project_id', 'distinct_id'])
      .execute()
    await run('create index person_distinct_ids_by_person on person_distinct_ids (person_id)')

    await db.schema
      .createTable('hash_key_overrides')
      .addColumn('person_id', integer, c => c.notNull().references('persons.id').onDelete('cascade'))
      .addColumn('flag_key', text, c => c.notNull())
      .addColumn('hash_key', text, c => c.notNull())
      .addPrimaryKeyConstraint('hash_key_overrides_key', ['person_id', 'flag_key'])
      .execute()

    await db.schema
      .createTable('groups')
      .addColumn('id', idType, id)
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('type_index', integer, c => c.notNull())
      .addColumn('key', text, c => c.notNull())
      .addColumn('properties', text, c => c.notNull())
      .addColumn('version', integer, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addUniqueConstraint('groups_key', ['project_id', 'type_index', 'key'])
      .execute()
    await run('create index groups_by_type on "groups" (project_id, type_index, id)')

    await db.schema
      .createTable('flag_usage')
      .addColumn('id', idType, id)
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('flag_key', text, c => c.notNull())
      .addColumn('kind', text, c => c.notNull())
      .addColumn('variant', text, c => c.notNull())
      .addColumn('day', text, c => c.notNull())
      .addColumn('calls', integer, c => c.notNull())
      .addColumn('kept_users', integer, c => c.notNull())
      .addColumn('sampling_level', integer, c => c.notNull())
      .addUniqueConstraint('flag_usage_series', ['project_id', 'flag_key', 'kind', 'day', 'variant'])
      .execute()
    await run('create index flag_usage_by_day on flag_usage (day)')

    await db.schema
      .createTable('flag_usage_users')
      .addColumn('usage_id', integer, c => c.notNull().references('flag_usage.id').onDelete('cascade'))
      .addColumn('user_hash', integer, c => c.notNull())
      .addPrimaryKeyConstraint('flag_usage_users_key', ['usage_id', 'user_hash'])
      .execute()

    await db.schema
      .createTable('flag_last_used')
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('flag_key', text, c => c.notNull())
      .addColumn('kind', text, c => c.notNull())
      .addColumn('at', text, c => c.notNull())
      .addPrimaryKeyConstraint('flag_last_used_key', ['project_id', 'kind', 'flag_key'])
      .execute()

    await db.schema
      .createTable('event_counts')
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('event', text, c => c.notNull())
      .addColumn('flag_key', text, c => c.notNull())
      .addColumn('flag_value', text, c => c.notNull())
      .addColumn('minute', integer, c => c.notNull())
      .addColumn('count', integer, c => c.notNull())
      .addPrimaryKeyConstraint('event_counts_key', ['project_id', 'event', 'flag_key', 'flag_value', 'minute'])
      .execute()
    await run('create index event_counts_by_minute on event_counts (minute)')
  },
}
