import { isDeepStrictEqual } from 'node:util'
import type { BulkError } from '@halyard/contract'
import type { ApprovalNeeded, Saved } from '../../../domain/approval.ts'
import { refusalOf } from '../../../domain/approval.ts'
import type { Flag, FlagPatch } from '../../../domain/flag.ts'
import { Problem } from '../../../problem.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import { canEditFlag } from '../../access/access.ts'
import { grantsFor } from '../../access/grants.ts'
import type { FlagGate } from '../flag-writes.ts'
import { type FlagUpdate, planFlagUpdate, touchesReferences } from '../plan-flag.ts'

export interface BulkResult {
  readonly changed: readonly Flag[]
  readonly errors: readonly BulkError[]
}

/**
 * Changes many flags in one transaction. A flag that cannot be changed (unknown, not permitted, still needed by another flag) is reported
 * with the reason, and one that needs approval with its change request; flags that block each other are tried again after the others.
 */
export async function bulkChange(
  gate: FlagGate,
  actor: Actor,
  project: Project,
  { ids, patchOf }: { readonly ids: readonly number[]; readonly patchOf: (flag: Flag) => FlagPatch },
): Promise<BulkResult> {
  const { tx } = gate
  const live = new Map((await tx.flags.findLive(project.id, ids)).map(flag => [flag.id, flag]))
  const grants = await grantsFor(tx, actor, project)
  const changed: Flag[] = []
  const errors: BulkError[] = []
  let waiting: Flag[] = []
  for (const id of ascending(ids)) {
    const flag = live.get(id)
    if (!flag) errors.push({ id, reason: 'Flag not found.' })
    else if (!canEditFlag(grants, flag)) errors.push({ id, key: flag.key, reason: 'You cannot edit this flag.' })
    else waiting.push(flag)
  }
  // Every writer locks the project before its flags, and flags in ascending order: no two writers can wait for each other.
  if (waiting.some(flag => touchesReferences(flag, patchOf(flag)))) await tx.projects.holdReferences(project.id)
  let refusals: BulkError[] = []
  const gated: { readonly flag: Flag; readonly needed: ApprovalNeeded }[] = []
  for (let isProgress = true; isProgress && waiting.length > 0; ) {
    const refused: Flag[] = []
    refusals = []
    for (const flag of waiting) {
      const result = await attempt(gate, actor, project, { stored: flag, patch: patchOf(flag) })
      if (result instanceof Problem) {
        refused.push(flag)
        refusals.push({ id: flag.id, key: flag.key, reason: result.message })
      } else if (result.kind === 'needs_approval') {
        gated.push({ flag, needed: result.needed })
      } else if (result.kind === 'saved') changed.push(result.value)
      else throw refusalOf(result)
    }
    isProgress = refused.length < waiting.length
    waiting = refused
  }
  // Opening a request locks its requester, which comes after the flags.
  for (const { flag, needed } of gated) errors.push(await requestedInstead(gate, project, flag, needed))
  return { changed, errors: [...errors, ...refusals] }
}

async function requestedInstead(
  gate: FlagGate,
  project: Project,
  { id, key }: Flag,
  needed: ApprovalNeeded,
): Promise<BulkError> {
  const { id: request } = await gate.request(project, needed)
  const reason = `The change needs approval: change request ${request} was opened.`
  return { id, key, reason, change_request: request }
}

const ascending = (ids: readonly number[]): readonly number[] => [...new Set(ids)].sort((a, b) => a - b)

async function attempt(
  gate: FlagGate,
  actor: Actor,
  project: Project,
  update: FlagUpdate,
): Promise<Saved<Flag> | Problem> {
  try {
    return await gate.saveFlag(await planFlagUpdate(gate.tx, actor, project, update, gate.now))
  } catch (error) {
    // A refusal comes before anything is written, so the transaction can go on with the next flag.
    if (error instanceof Problem && error.kind === 'invalid') return error
    throw error
  }
}

export function changeTags(
  tags: readonly unknown[],
  action: 'add' | 'remove' | 'set',
  sentTags: readonly unknown[],
): readonly unknown[] {
  if (action === 'set') return sentTags
  const isIn = (list: readonly unknown[], tag: unknown) => list.some(other => isDeepStrictEqual(other, tag))
  if (action === 'remove') return tags.filter(tag => !isIn(sentTags, tag))
  return [...tags, ...sentTags.filter((tag, n) => !isIn(tags, tag) && !isIn(sentTags.slice(0, n), tag))]
}
