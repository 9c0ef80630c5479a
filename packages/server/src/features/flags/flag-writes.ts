import type { ApprovalNeeded, Saved } from '../../domain/approval.ts'
import type { WriteRequest } from '../../domain/authorization.ts'
import type { Flag } from '../../domain/flag.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import type { PlannedFlag } from './plan-flag.ts'

/**
 * The way by which requests write flags: plan, authorize, commit, in one transaction. When a change needs approval, a change request is
 * opened instead and `approval_required` is raised with it. Change control implements it.
 */
export interface FlagWrites {
  saveFlag<T>(
    by: WriteRequest,
    plan: (tx: Stores) => Promise<PlannedFlag>,
    respond: (flag: Flag, tx: Stores) => T | Promise<T>,
  ): Promise<T>
  /** What saving a flag would do. Plugins are not asked. */
  previewFlag(
    by: WriteRequest,
    plan: (tx: Stores) => Promise<PlannedFlag>,
  ): Promise<{ readonly planned: PlannedFlag; readonly needsApproval: boolean }>
  /**
   * Several objects that refer to each other: the ids of some are needed to plan others, so they are planned while others are saved. All of
   * it is rolled back, and run again, when evidence is missing; `rollBack` ends it without saving anything.
   */
  saveMany<T>(by: WriteRequest, work: (gate: FlagGate, rollBack: (result: T) => never) => Promise<T>): Promise<T>
}

/** The gate of one transaction. */
export interface FlagGate {
  readonly tx: Stores
  readonly now: Instant
  saveFlag(planned: PlannedFlag): Promise<Saved<Flag>>
  /** Opens a change request for what needs approval. */
  request(project: Project, needed: ApprovalNeeded): Promise<{ readonly id: number }>
}
