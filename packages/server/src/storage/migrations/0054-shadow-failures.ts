import type { Migration } from './migration.ts'

/** Evaluations that Halyard failed to make in shadow mode: they neither agree nor differ. */
export const shadowFailures: Migration = {
  version: 54,
  name: 'shadow-failures',
  async up({ run }) {
    await run('alter table shadow_days add column failed integer not null default 0')
  },
}
