import type { Instant } from '../../instant.ts'
import { invalid, Problem } from '../../problem.ts'
import type { TransactionHints } from '../../storage/sql-database.ts'
import type { Database, Stores } from '../../stores.ts'
import { type Actor, ownerLevel } from '../../tenancy.ts'
import { namedKeys } from '../flags/flag.ts'
import { type FlagGuard, type FlagSave, fingerprintOf } from '../flags/flag-guard.ts'
import { ApprovalRequired } from './authorize-write.ts'
import type { DirectPermit, Emergency, Permit, Requester, SaveChecks } from './permit.ts'
import type { Impact } from './policies/policy.ts'
import type { ChangeRequest } from './requests/change-request.ts'
import { openRequest } from './requests/open-request.ts'

/** The way by which requests write flags and cohorts. */
export interface GatedWrites {
  /**
   * Runs a transaction that writes flags or cohorts. When one of them needs approval, nothing is written, a change request is opened and
   * `approval_required` is raised with it.
   */
  save<T>(
    by: WriteRequest,
    work: (tx: Stores, permit: DirectPermit) => Promise<T>,
    hints?: TransactionHints,
  ): Promise<T>
  /** Runs a transaction that applies an approved change request. */
  apply<T>(
    transaction: Database['transaction'],
    approved: { readonly changeRequest: number; readonly contentHash: string },
    work: (tx: Stores, permit: Permit) => Promise<T>,
  ): Promise<T>
}

/** As much of an HTTP request as decides about a write. */
export interface WriteRequest {
  readonly actor: Actor
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

interface Deps {
  readonly database: Database
  readonly guard: FlagGuard
  readonly measure: (save: FlagSave) => Promise<Impact | undefined>
  readonly now: () => Instant
}

/** How often a flag may change between its check and its save. */
const checksMax = 3

export function createGatedWrites({ database, guard, measure, now }: Deps): GatedWrites {
  /**
   * The first run computes what would be saved and is rolled back when plugins have to check it or people have to be counted; a later run
   * commits unless a flag has changed since, which is checked again.
   */
  async function run<T, P extends Permit>(
    transaction: Database['transaction'],
    permitOf: (checks: SaveChecks) => P,
    work: (tx: Stores, permit: P) => Promise<T>,
  ): Promise<T> {
    const checked = new Set<string>()
    const measured = new Map<string, Impact | undefined>()
    let [checks, measures] = [0, 0]
    for (;;) {
      try {
        return await transaction(async tx => {
          const unchecked: FlagSave[] = []
          const unmeasured: FlagSave[] = []
          const permit = permitOf({
            checkSave(save) {
              if (guard.isActive(save.projectId) && !checked.has(fingerprintOf(save))) unchecked.push(save)
            },
            impactOf(save) {
              const fingerprint = fingerprintOf(save)
              if (!measured.has(fingerprint)) unmeasured.push(save)
              return measured.get(fingerprint)
            },
          })
          const outcome = await settled(work(tx, permit))
          // An impact that is not known yet counts as too large, so the outcome is only valid once all are known.
          if (unmeasured.length > 0) throw new DryRunRollback([], unmeasured)
          if ('error' in outcome) throw outcome.error
          if (unchecked.length > 0) throw new DryRunRollback(unchecked, [])
          return outcome.result
        })
      } catch (error) {
        if (!(error instanceof DryRunRollback)) throw error
        if (error.unchecked.length > 0 && checks++ === checksMax) throw keepsChanging()
        if (error.unmeasured.length > 0 && measures++ === checksMax) throw keepsChanging()
        for (const save of error.unmeasured) measured.set(fingerprintOf(save), await measure(save))
        for (const save of error.unchecked) {
          await guard.check(save)
          checked.add(fingerprintOf(save))
        }
      }
    }
  }

  return {
    async save({ actor, headers }, work, hints) {
      const emergency = readEmergency(actor, headers['x-halyard-emergency'])
      const note = readNote(headers['x-halyard-note'])
      const requester = requesterOf(actor)
      try {
        return await run(
          running => database.transaction(running, hints),
          checks => ({ kind: 'direct', requester, emergency, note, ...checks }),
          work,
        )
      } catch (error) {
        if (!(error instanceof ApprovalRequired)) throw error
        throw approvalRequired(await open(error, note), error.needed.gaining)
      }
    },
    apply: (transaction, approved, work) =>
      run(transaction, checks => ({ kind: 'approved', ...approved, ...checks }), work),
  }

  function open({ needed }: ApprovalRequired, reason: string | undefined): Promise<ChangeRequest> {
    return database.transaction(async tx => {
      const project = await tx.projects.find(needed.projectId)
      if (!project) throw new Problem('missing', 'Project not found.')
      return openRequest(tx, project, needed, { reason }, now())
    })
  }
}

export const requesterOf = ({ user, key }: Pick<Actor, 'user' | 'key'>): Requester => ({
  user,
  keyLabel: key.label,
  isByKey: !key.isSession,
})

const emergencyCharactersMax = 1000

function readEmergency({ levels }: Actor, header: string | string[] | undefined): Emergency | null {
  if (header === undefined) return null
  const reason = headerText(header)
  if (reason === '' || reason.length > emergencyCharactersMax) {
    throw invalid(
      'X-Halyard-Emergency',
      'invalid_input',
      `X-Halyard-Emergency must be a reason of 1 to ${emergencyCharactersMax} characters.`,
    )
  }
  return { reason, organizationIds: new Set([...levels].flatMap(([id, level]) => (level >= ownerLevel ? [id] : []))) }
}

/** Undefined when the header is absent or empty. */
function readNote(header: string | string[] | undefined): string | undefined {
  const note = header === undefined ? '' : headerText(header)
  if (note.length > noteCharactersMax) {
    throw invalid('X-Halyard-Note', 'max_length', `X-Halyard-Note can have at most ${noteCharactersMax} characters.`)
  }
  return note === '' ? undefined : note
}

const noteCharactersMax = 2000

/** Headers are ASCII, so other characters are percent-encoded; a text that is not stays as it is. */
function headerText(header: string | string[]): string {
  const text = String(header)
  try {
    return decodeURIComponent(text).trim()
  } catch {
    return text.trim()
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

/** Rolls a transaction back that was run to compute what it would save. */
class DryRunRollback extends Error {
  readonly unchecked: readonly FlagSave[]
  readonly unmeasured: readonly FlagSave[]

  constructor(unchecked: readonly FlagSave[], unmeasured: readonly FlagSave[]) {
    super('Flags have to be checked before they are saved.')
    this.name = 'DryRunRollback'
    this.unchecked = unchecked
    this.unmeasured = unmeasured
  }
}

const keepsChanging = (): Problem =>
  new Problem('conflict', 'The flag kept changing while plugins checked it; nothing was changed. Try again.')
