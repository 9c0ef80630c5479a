import type { Migration } from './migration.ts'

/** Archived flags: kept with their history, but neither listed by default nor evaluated. */
export const archivedFlags: Migration = {
  version: 21,
  name: 'archived-flags',
  async up({ run }) {
    await run('alter table flags add column archived integer not null default 0')
  },
}
