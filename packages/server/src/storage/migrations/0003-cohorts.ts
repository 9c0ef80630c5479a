import type { Migration } from './migration.ts'

/** Cohorts, the members of static ones, and the work on them that outlives a request. */
export const cohorts: Migration = {
  version: 3,
  name: 'cohorts',
  async up({ db, text, integer, idType, id, run }) {
    await db.schema
      .createTable('cohorts')
      .addColumn('id', idType, id)
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('name', text, c => c.notNull())
      .addColumn('description', text, c => c.notNull())
      .addColumn('filters', text, c => c.notNull())
      .addColumn('is_static', integer, c => c.notNull())
      .addColumn('deleted', integer, c => c.notNull())
      .addColumn('created_by_id', integer, c => c.notNull().references('users.id'))
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('updated_at', text, c => c.notNull())
      .addColumn('version', integer, c => c.notNull())
      .addColumn('people_count', integer)
      .addColumn('last_calculation', text)
      .addColumn('errors_calculating', integer, c => c.notNull())
      .addColumn('last_error', text)
      .execute()
    await run('create index cohorts_newest on cohorts (project_id, deleted, created_at desc, id desc)')

    await db.schema
      .createTable('cohort_people')
      .addColumn('cohort_id', integer, c => c.notNull().references('cohorts.id').onDelete('cascade'))
      .addColumn('person_id', integer, c => c.notNull().references('persons.id').onDelete('cascade'))
      .addPrimaryKeyConstraint('cohort_people_key', ['cohort_id', 'person_id'])
      .execute()
    await run('create index cohort_people_by_person on cohort_people (person_id, cohort_id)')

    // One piece of work at most for a cohort: counting a dynamic one, or filling a static one.
    await db.schema
      .createTable('cohort_jobs')
      .addColumn('cohort_id', integer, c => c.primaryKey().references('cohorts.id').onDelete('cascade'))
      .addColumn('task', text, c => c.notNull())
      .addColumn('position', integer, c => c.notNull())
      .addColumn('processed', integer, c => c.notNull())
      .addColumn('matched', integer, c => c.notNull())
      .addColumn('total', integer)
      .addColumn('attempts', integer, c => c.notNull())
      .addColumn('due_at', text, c => c.notNull())
      .addColumn('revision', text, c => c.notNull())
      .execute()
    await run('create index cohort_jobs_due on cohort_jobs (due_at)')

    // Long lists of distinct ids wait here in pieces until they are looked up.
    await db.schema
      .createTable('cohort_imports')
      .addColumn('id', idType, id)
      .addColumn('cohort_id', integer, c => c.notNull().references('cohorts.id').onDelete('cascade'))
      .addColumn('distinct_ids', text, c => c.notNull())
      .execute()
    await run('create index cohort_imports_by_cohort on cohort_imports (cohort_id, id)')
  },
}
