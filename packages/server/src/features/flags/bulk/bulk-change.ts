import { isDeepStrictEqual } from 'node:util'
import type { BulkError } from '@halyard/contract'
import type { Instant } from '../../../instant.ts'
import { Problem } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import { canEditFlag } from '../../access/access.ts'
import { grantsFor } from '../../access/grants.ts'
import { ApprovalRequired } from '../../change-control/authorize-write.ts'
import type { Permit } from '../../change-control/permit.ts'
import { openRequest } from '../../change-control/requests/open-request.ts'
import type { Flag, FlagPatch } from '../flag.ts'
import { type FlagUpdate, touchesReferences, updateFlag } from '../update-flag.ts'

export interface BulkResult {
  readonly changed: readonly Flag[]
  readonly errors: readonly BulkError[]
}

/**
 * Changes many flags in one transaction. A flag that cannot be changed (unknown, not permitted, still needed by another flag) is reported
 * with the reason, and one that needs approval with its change request; flags that block each other are tried again after the others.
 */
export async function bulkChange(
  tx: Stores,
  actor: Actor,
  project: Project,
  { ids, patchOf }: { readonly ids: readonly number[]; readonly patchOf: (flag: Flag) => FlagPatch },
  now: Instant,
  permit: Permit,
): Promise<BulkResult> {
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
  for (let isProgress = true; isProgress && waiting.length > 0; ) {
    const refused: Flag[] = []
    refusals = []
    for (const flag of waiting) {
      const result = await attempt(tx, actor, project, { stored: flag, patch: patchOf(flag) }, now, permit)
      if (result instanceof Problem) {
        refused.push(flag)
        refusals.push({ id: flag.id, key: flag.key, reason: result.message })
      } else if (result instanceof ApprovalRequired) {
        const { id: request } = await openRequest(tx, project, result.needed, { reason: noteOf(permit) }, now)
        const reason = `The change needs approval: change request ${request} was opened.`
        errors.push({ id: flag.id, key: flag.key, reason, change_request: request })
      } else changed.push(result)
    }
    isProgress = refused.length < waiting.length
    waiting = refused
  }
  return { changed, errors: [...errors, ...refusals] }
}

const noteOf = (permit: Permit): string | undefined => (permit.kind === 'direct' ? permit.note : undefined)

const ascending = (ids: readonly number[]): readonly number[] => [...new Set(ids)].sort((a, b) => a - b)

async function attempt(
  tx: Stores,
  actor: Actor,
  project: Project,
  update: FlagUpdate,
  now: Instant,
  permit: Permit,
): Promise<Flag | Problem | ApprovalRequired> {
  try {
    return await updateFlag(tx, actor, project, update, now, permit)
  } catch (error) {
    // A refusal comes before anything is written, so the transaction can go on with the next flag.
    if (error instanceof ApprovalRequired || (error instanceof Problem && error.kind === 'invalid')) return error
    throw error
  }
}

export function changeTags(
  tags: readonly unknown[],
  action: 'add' | 'remove' | 'set',
  given: readonly unknown[],
): readonly unknown[] {
  if (action === 'set') return given
  const isIn = (list: readonly unknown[], tag: unknown) => list.some(other => isDeepStrictEqual(other, tag))
  if (action === 'remove') return tags.filter(tag => !isIn(given, tag))
  return [...tags, ...given.filter((tag, n) => !isIn(tags, tag) && !isIn(given.slice(0, n), tag))]
}
