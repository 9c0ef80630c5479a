import type { ApprovalNeeded, Held, Saved } from '../../domain/approval.ts'
import type { Authorization } from '../../domain/authorization.ts'
import type { ChangeRequest } from '../../domain/change-request.ts'
import type { Flag } from '../../domain/flag.ts'
import type { Permit } from '../../domain/permit.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { type CommittedCohort, commitCohort, type PlannedCohort } from '../cohorts/plan-cohort.ts'
import { commitFlags } from '../flags/bulk/many-flags.ts'
import { commitFlag } from '../flags/commit-flag.ts'
import type { FlagGate } from '../flags/flag-writes.ts'
import { isUnchanged, type PlannedFlag } from '../flags/plan-flag.ts'
import { authorizeCohort, authorizeFlag, authorizeSchedule, type Decision } from './authorize.ts'
import type { Evidence } from './evidence.ts'
import { openRequest, openReview } from './requests/open-request.ts'
import { commitSchedule, type PlannedSchedule } from './schedules/plan-schedule.ts'
import type { ScheduledChange } from './schedules/scheduled-change.ts'
import { readWriteRules, withSaves } from './write-rules.ts'

interface GateOptions {
  readonly permit: Permit
  readonly evidence: Evidence
  readonly now: Instant
  /** The transaction is rolled back if evidence turns out to be missing, so it goes on without it. */
  readonly isTentative?: boolean
}

/** The gate of one transaction: authorizes planned changes and commits those that are allowed. */
export class Gate implements FlagGate {
  readonly tx: Stores
  readonly permit: Permit
  readonly now: Instant
  readonly #evidence: Evidence
  readonly #isTentative: boolean

  constructor(tx: Stores, { permit, evidence, now, isTentative = false }: GateOptions) {
    this.tx = tx
    this.permit = permit
    this.now = now
    this.#evidence = evidence
    this.#isTentative = isTentative
  }

  async saveFlag(planned: PlannedFlag): Promise<Saved<Flag>> {
    const decision = await authorizeFlag(this.tx, this.#grounds, planned)
    if (decision.kind === 'allowed') this.#check(planned)
    if (this.#isUndecided) return { kind: 'undecided' }
    if (decision.kind !== 'allowed') return decision
    const flag = await commitFlag(this.tx, planned, decision.authorization)
    await this.#review(planned.project, decision, { flagId: flag.id, version: flag.version })
    return { kind: 'saved', value: flag }
  }

  /** All flags of one project or none; they may depend on each other. */
  async saveFlags(planned: readonly PlannedFlag[]): Promise<Saved<readonly Flag[]>> {
    const [first] = planned
    if (!first) return { kind: 'saved', value: [] }
    const { project } = first
    const rules = withSaves(await readWriteRules(this.tx, project), planned)
    const decisions = new Map<PlannedFlag, Extract<Decision, { kind: 'allowed' }>>()
    let held: Held | undefined
    for (const plan of planned) {
      const decision = await authorizeFlag(this.tx, this.#grounds, plan, rules)
      if (decision.kind === 'allowed') {
        decisions.set(plan, decision)
        this.#check(plan)
      } else held ??= decision
      // While people have to be counted, it goes on, so that all are counted in one round.
      if (held && this.#evidence.isMeasured) break
    }
    if (this.#isUndecided) return { kind: 'undecided' }
    if (held) return held
    const authorizations = new Map<PlannedFlag, Authorization>()
    for (const [plan, { authorization }] of decisions) authorizations.set(plan, authorization)
    const flags = await commitFlags(this.tx, planned, authorizations)
    for (const [index, plan] of planned.entries()) {
      const { id, version } = flags[index]!
      await this.#review(project, decisions.get(plan)!, { flagId: id, version })
    }
    return { kind: 'saved', value: flags }
  }

  async saveCohort(planned: PlannedCohort): Promise<Saved<CommittedCohort>> {
    const decision = await authorizeCohort(this.tx, this.#grounds, planned)
    if (decision.kind !== 'allowed') return decision
    await this.#review(planned.project, decision, { flagId: null, version: planned.cohort.version })
    return { kind: 'saved', value: await commitCohort(this.tx, planned, decision.authorization) }
  }

  async saveSchedule(planned: PlannedSchedule): Promise<Saved<ScheduledChange>> {
    const decision = await authorizeSchedule(this.tx, this.#grounds, planned)
    if (this.#isUndecided) return { kind: 'undecided' }
    if (decision.kind !== 'allowed') return decision
    const { permit } = this
    const approval =
      permit.kind === 'approved' ? { changeRequest: permit.changeRequest, contentHash: permit.contentHash } : null
    return { kind: 'saved', value: await commitSchedule(this.tx, planned, approval) }
  }

  /** Opens a change request for what needs approval. */
  request(project: Project, needed: ApprovalNeeded): Promise<ChangeRequest> {
    const reason = this.permit.kind === 'direct' ? this.permit.note : undefined
    return openRequest(this.tx, project, needed, { reason }, this.now)
  }

  /** Plugins check what is saved, except what makes a flag safe. */
  #check(planned: PlannedFlag): void {
    if (this.permit.kind !== 'system' && !isUnchanged(planned)) this.#evidence.check(planned)
  }

  get #grounds() {
    return { permit: this.permit, evidence: this.#evidence, now: this.now }
  }

  get #isUndecided(): boolean {
    return !this.#isTentative && !this.#evidence.isComplete
  }

  async #review(
    project: Project,
    { bypassed }: Extract<Decision, { kind: 'allowed' }>,
    applied: { readonly flagId: number | null; readonly version: number },
  ): Promise<void> {
    if (bypassed) await openReview(this.tx, project, bypassed, applied, this.now)
  }
}
