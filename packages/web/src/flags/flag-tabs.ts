import type { Flag, Project } from '@halyard/contract'
import type { Cohort } from '../services/cohort-queries.ts'

export const flagTabs = ['targeting', 'usage', 'schedule', 'history', 'details', 'copies', 'code', 'access'] as const
export type FlagTab = (typeof flagTabs)[number]

interface FlagTabSearch {
  tab?: FlagTab | undefined
  /** What the history shows; without it, the changes. */
  view?: 'versions' | undefined
}

export const readFlagTab = (search: Record<string, unknown>): FlagTabSearch => ({
  // Always present: otherwise an unknown value in the URL would be kept.
  tab: flagTabs.find(name => name === search.tab),
  view: search.tab === 'history' && search.view === 'versions' ? 'versions' : undefined,
})

/** The toast that leads from a new flag to its code. */
export const createdNotice = (flagId: number): string => `created ${flagId}`

/** The props of every flag tab. */
export interface TabProps {
  readonly flag: Flag
  readonly project: Project
  readonly flags: readonly Flag[]
  readonly cohorts: readonly Cohort[]
}
