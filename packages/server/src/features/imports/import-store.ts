import type { ImportSource, ImportStatus } from '@halyard/migrate/model'
import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import type { ImportLink, ImportPlan, Outcome, PlannedItem } from './import-plan.ts'

export interface ItemFilter {
  readonly status?: ImportStatus
  readonly projectId?: number
  readonly target?: number
  /** Part of the key in the file. */
  readonly search?: string
}

/** An item with what it became. */
export interface ListedItem extends Omit<PlannedItem, 'definition'> {
  readonly flagId: number | null
  readonly cohortId: number | null
}

export interface ItemCount {
  readonly target: number
  readonly status: ImportStatus
  readonly outcome: Outcome | null
  readonly count: number
}

export interface ImportStore {
  createPlan(plan: Omit<ImportPlan, 'id'>, items: readonly PlannedItem[]): Promise<ImportPlan>
  findPlan(organizationId: string, planId: number, now: Instant): Promise<ImportPlan | undefined>
  /** Plans that have not expired, newest first. */
  listPlans(organizationId: string, now: Instant): Promise<readonly ImportPlan[]>
  removePlan(planId: number): Promise<void>
  /** In all organizations. */
  removeExpired(now: Instant): Promise<void>
  setApplied(planId: number, now: Instant): Promise<void>
  /** Once projects were created. False when another request has created them meanwhile. */
  setTargets(plan: ImportPlan, targets: ImportPlan['targets']): Promise<boolean>

  listItems(plan: ImportPlan, filter: ItemFilter, window: Window): Promise<PageOf<ListedItem>>
  countItems(planId: number): Promise<readonly ItemCount[]>
  /** All items of a target with their definitions, in their order. */
  readItems(planId: number, target: number): Promise<readonly PlannedItem[]>
  saveOutcomes(planId: number, outcomes: ReadonlyMap<number, Outcome>): Promise<void>

  listLinks(projectId: number, source: ImportSource): Promise<readonly ImportLink[]>
  /** Replaces those of the same items. */
  saveLinks(projectId: number, source: ImportSource, links: readonly ImportLink[], now: Instant): Promise<void>
}
