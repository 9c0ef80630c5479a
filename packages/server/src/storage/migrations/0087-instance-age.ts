import type { Migration } from './migration.ts'

/** When a value of the installation was made, as the key that signs checkpoints; null for those that are older than this column. */
export const instanceAge: Migration = {
  version: 87,
  name: 'instance-age',
  async up({ run }) {
    await run('alter table instance add column created_at text')
  },
}
