import type { FlagWrite } from '@halyard/contract'
import type { ChangeRequest } from '../../../domain/change-request.ts'
import { applyPatch, contentOf, type Flag, newFlagContent } from '../../../domain/flag.ts'
import { needsImpact } from '../../../domain/policy.ts'
import type { Instant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import { checkFlagContent } from '../../flags/check-flag.ts'
import type { FlagSave } from '../../flags/flag-guard.ts'
import { patchFromWire } from '../../flags/flag-resource.ts'
import { patchOnTopOf } from '../../flags/plan-flag.ts'
import { flagApproval } from '../approval-needed.ts'
import type { Evidence } from '../evidence.ts'
import { gainingDependents } from '../gaining-dependents.ts'
import { requesterOf } from '../write-request.ts'
import { readWriteRules } from '../write-rules.ts'
import { draftOf, openRequest } from './open-request.ts'

export interface Proposal {
  readonly patch: FlagWrite
  readonly title?: string | undefined
  readonly reason?: string | undefined
  readonly applyAt: Instant | null
  readonly dry_run?: boolean | undefined
}

/**
 * Opens a change request on purpose, whether or not a policy requires it. Raises `invalid` for a change that could not be applied now, and
 * `conflict` as a save would. Undefined while people have to be counted.
 */
export async function proposeRequest(
  tx: Stores,
  actor: Actor,
  project: Project,
  flag: Flag | undefined,
  { patch, title, reason = '', applyAt, dry_run: isDryRun }: Proposal,
  now: Instant,
  evidence: Evidence,
): Promise<ChangeRequest | undefined> {
  const { version, ...fields } = patch
  if (!flag && fields.key === undefined) throw invalid('patch', 'required', '`key` is required for a new flag.')
  const stored = flag ? contentOf(flag) : newFlagContent(fields.key ?? '', now)
  const wanted = patchFromWire(fields)
  const rebased = flag ? await patchOnTopOf(tx, { stored: flag, patch: wanted, basedOnVersion: version }) : wanted
  const content = applyPatch(stored, rebased)
  await checkFlagContent(tx, project, { ...content, id: flag?.id ?? 0, version: 1 }, flag && contentOf(flag))
  const { policies, dependents } = await readWriteRules(tx, project)
  const gaining = gainingDependents(dependents, { stored: flag, flag: content })
  const isMeasured = policies.some(({ conditions }) => needsImpact(conditions))
  const save = { projectId: project.id, stored: flag, flag: { ...flag, ...content } as FlagSave['flag'] }
  const impact = isMeasured ? evidence.impactOf(save) : undefined
  if (!evidence.isComplete) return undefined
  const change = { stored: flag, flag: content, requester: requesterOf(actor), impact, gaining }
  const needed = flagApproval(project, change, policies)
  if (flag && Object.keys(needed.patch).length === 0) {
    throw invalid('patch', 'invalid_input', '`patch` changes nothing.')
  }
  const timed = { ...needed, applyAt }
  if (isDryRun) return { ...draftOf(timed, { title, reason }, now), id: 0 }
  return openRequest(tx, project, timed, { title, reason }, now)
}
