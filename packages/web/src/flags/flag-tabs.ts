import type { Flag, Project } from '@halyard/contract'
import type { Cohort } from '../services/cohort-queries.ts'

export const flagTabs = ['targeting', 'usage', 'schedule', 'history', 'copies', 'code', 'access'] as const
export type FlagTab = (typeof flagTabs)[number]

export const readFlagTab = (search: Record<string, unknown>): { tab?: FlagTab | undefined } => ({
  // Always named: what the address says would shine through otherwise, whether there is such a tab or not.
  tab: flagTabs.find(name => name === search.tab),
})

/** What every tab of a flag is given. */
export interface TabProps {
  readonly flag: Flag
  readonly project: Project
  readonly flags: readonly Flag[]
  readonly cohorts: readonly Cohort[]
}
