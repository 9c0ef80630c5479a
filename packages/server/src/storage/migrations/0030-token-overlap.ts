import type { Migration } from './migration.ts'

/** A rotated project token keeps working for a while, so that apps can be updated one after another. */
export const tokenOverlap: Migration = {
  version: 30,
  name: 'token-overlap',
  async up({ run }) {
    await run('alter table projects add column previous_api_token text')
    await run('alter table projects add column previous_token_expires_at text')
    await run('create index projects_by_previous_token on projects (previous_api_token)')
  },
}
