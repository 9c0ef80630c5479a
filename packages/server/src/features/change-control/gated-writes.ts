import { refusalOf, type Saved } from '../../domain/approval.ts'
import type { WriteRequest } from '../../domain/authorization.ts'
import type { ChangeRequest } from '../../domain/change-request.ts'
import { namedKeys } from '../../domain/flag.ts'
import type { Permit } from '../../domain/permit.ts'
import type { Impact } from '../../domain/policy.ts'
import type { Instant } from '../../instant.ts'
import { Problem } from '../../problem.ts'
import type { Database, Hints, Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import type { CohortWrites } from '../cohorts/plan-cohort.ts'
import type { FlagGuard, FlagSave } from '../flags/flag-guard.ts'
import type { FlagWrites } from '../flags/flag-writes.ts'
import { authorizeFlag } from './authorize.ts'
import { Evidence } from './evidence.ts'
import { Gate } from './gate.ts'
import type { PlannedSchedule } from './schedules/plan-schedule.ts'
import type { ScheduledChange } from './schedules/scheduled-change.ts'
import { permitOf } from './write-request.ts'

/** The way by which requests write flags, cohorts and scheduled changes; see `FlagWrites`. */
export interface GatedWrites extends FlagWrites, CohortWrites {
  saveSchedule<T>(
    by: WriteRequest,
    plan: (tx: Stores) => Promise<PlannedSchedule>,
    respond: (change: ScheduledChange, tx: Stores) => T | Promise<T>,
  ): Promise<T>
  saveMany<T>(
    by: WriteRequest,
    work: (gate: Gate, rollBack: (result: T) => never) => Promise<T>,
    hints?: Hints,
  ): Promise<T>
  /** Applies an approved change request. `work` saves nothing else before the gate, and is run again when that is undecided. */
  apply<T>(
    transaction: Database['transaction'],
    approved: { readonly changeRequest: number; readonly contentHash: string; readonly now: Instant },
    work: (gate: Gate) => Promise<T | undefined>,
    hints?: Hints,
  ): Promise<T>
  /** Runs a transaction that may count people. It writes nothing while evidence is missing. */
  withEvidence<T>(work: (tx: Stores, evidence: Evidence) => Promise<T>): Promise<T>
}

interface Deps {
  readonly database: Database
  readonly guard: FlagGuard
  readonly measure: (save: FlagSave) => Promise<Impact | undefined>
  readonly now: () => Instant
}

/** Ends a transaction of many writes, which leaves nothing behind. */
class RolledBack<T> extends Error {
  readonly result: T | undefined

  constructor(result: T | undefined) {
    super('The transaction was run to see what it would save.')
    this.name = 'RolledBack'
    this.result = result
  }
}

export function createGatedWrites({ database, guard, measure, now }: Deps): GatedWrites {
  const newEvidence = () => new Evidence(guard, measure)

  /** Runs the work until it has all that decides about it; undefined is returned by work that lacks something, and has written nothing. */
  async function untilDecided<T>(
    transaction: Database['transaction'],
    work: (tx: Stores, evidence: Evidence) => Promise<T>,
    hints?: Hints,
  ): Promise<T> {
    const evidence = newEvidence()
    for (;;) {
      const result = await transaction(tx => {
        evidence.begin()
        return work(tx, evidence)
      }, hints)
      if (evidence.isComplete) return result
      await evidence.gather()
    }
  }

  async function saveOne<P extends { readonly project: Project }, V, T>(
    by: WriteRequest,
    plan: (tx: Stores) => Promise<P>,
    save: (gate: Gate, planned: P) => Promise<Saved<V>>,
    respond: (value: V, tx: Stores) => T | Promise<T>,
    hints?: Hints,
  ): Promise<T> {
    const permit = permitOf(by)
    const outcome = await untilDecided(
      database.transaction,
      async (tx, evidence) => {
        const planned = await plan(tx)
        const gate = new Gate(tx, { permit, evidence, now: now() })
        const saved = await save(gate, planned)
        if (saved.kind === 'saved') return { response: await respond(saved.value, tx) }
        if (saved.kind !== 'needs_approval') return { refusal: refusalOf(saved) }
        const request = await gate.request(planned.project, saved.needed)
        return { refusal: approvalRequired(request, saved.needed.gaining) }
      },
      hints,
    )
    if (outcome.refusal) throw outcome.refusal
    return outcome.response as T
  }

  async function saveMany<T>(
    by: WriteRequest,
    work: (gate: Gate, rollBack: (result: T) => never) => Promise<T>,
    hints?: Hints,
  ): Promise<T> {
    const permit = permitOf(by)
    const evidence = newEvidence()
    const rollBack = (result: T): never => {
      throw new RolledBack(result)
    }
    for (;;) {
      try {
        return await database.transaction(async tx => {
          evidence.begin()
          const gate = new Gate(tx, { permit, evidence, now: now(), isTentative: true })
          const outcome = await settled(work(gate, rollBack))
          if (!evidence.isMeasured) throw new RolledBack(undefined)
          if ('error' in outcome) throw outcome.error
          if (!evidence.isComplete) throw new RolledBack(undefined)
          return outcome.result
        }, hints)
      } catch (error) {
        if (!(error instanceof RolledBack)) throw error
        if (error.result !== undefined) return error.result as T
        await evidence.gather()
      }
    }
  }

  return {
    saveFlag: (by, plan, respond) => saveOne(by, plan, (gate, planned) => gate.saveFlag(planned), respond),
    saveCohort: (by, plan, hints) =>
      saveOne(
        by,
        plan,
        (gate, planned) => gate.saveCohort(planned),
        change => change,
        hints,
      ),
    saveSchedule: (by, plan, respond) => saveOne(by, plan, (gate, planned) => gate.saveSchedule(planned), respond),
    saveMany,
    async previewFlag(by, plan) {
      const permit = permitOf(by)
      const { planned, decision } = await untilDecided(database.transaction, async (tx, evidence) => {
        const planned = await plan(tx)
        return { planned, decision: await authorizeFlag(tx, { permit, evidence, now: now() }, planned) }
      })
      if (decision.kind === 'allowed') return { planned, needsApproval: false }
      if (decision.kind === 'needs_approval') return { planned, needsApproval: true }
      throw refusalOf(decision)
    },
    async apply(transaction, { now: at, ...approved }, work, hints) {
      const permit: Permit = { kind: 'approved', ...approved }
      const result = await untilDecided(
        transaction,
        (tx, evidence) => work(new Gate(tx, { permit, evidence, now: at })),
        hints,
      )
      return result!
    },
    withEvidence: work => untilDecided(database.transaction, work),
  }
}

/** The response to a write that needs approval, with PostHog's fields. */
export const approvalRequired = (request: ChangeRequest, gaining: readonly string[] = []): Problem =>
  new Problem('approval_required', gaining.length === 0 ? needsApproval : releasesOthers(gaining), {
    extra: {
      status: 'approval_required',
      ...(gaining.length > 0 && { dependents: gaining }),
      resource_type: request.cohortId === null ? 'feature_flag' : 'cohort',
      resource_id: idText(request.flagId ?? request.cohortId),
      change_request_id: request.id,
      change_request: {
        id: request.id,
        url: `/api/projects/${request.projectId}/change_requests/${request.id}/`,
        state: request.state,
        title: request.title,
      },
    },
  })

const needsApproval = 'The change needs approval. A change request was opened; nothing was changed.'
const releasesOthers = (keys: readonly string[]): string =>
  `The change needs approval, since it releases ${namedKeys(keys)} to more people. To go ahead, switch those off first.`

const idText = (id: number | null): string | null => (id === null ? null : String(id))

/** A refusal comes before anything is written, so its transaction is still readable. */
const settled = <T>(work: Promise<T>): Promise<{ readonly result: T } | { readonly error: unknown }> =>
  work.then(
    result => ({ result }),
    (error: unknown) => ({ error }),
  )
