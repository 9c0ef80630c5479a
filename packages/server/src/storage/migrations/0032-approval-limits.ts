import type { Migration } from './migration.ts'

/** When approval is asked for again, and which roles are exempt. */
export const approvalLimits: Migration = {
  version: 32,
  name: 'approval-limits',
  async up({ run }) {
    await run('alter table approval_policies add column reapprove_percent integer default 10')
    await run('alter table approval_policies add column reapprove_people integer default 1000')
    await run("alter table approval_policies add column emergency_roles text not null default '[]'")
    await run("alter table freezes add column except_roles text not null default '[]'")
  },
}
