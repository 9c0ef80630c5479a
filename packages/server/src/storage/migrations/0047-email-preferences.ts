import type { Migration } from './migration.ts'

/** Whether a user gets emails about change requests, and in which language. */
export const emailPreferences: Migration = {
  version: 47,
  name: 'email-preferences',
  async up({ run }) {
    await run('alter table users add column change_request_emails integer not null default 1')
    await run('alter table users add column language text')
  },
}
