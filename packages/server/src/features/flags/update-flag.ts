import { isDeepStrictEqual } from 'node:util'
import { usesFlags } from '@halyard/engine'
import { refersToOthers } from '../../evaluation/subjects/gather-references.ts'
import type { Instant } from '../../instant.ts'
import { invalid, missing, Problem } from '../../problem.ts'
import { StaleWrite, type Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { type Author, diffFields } from '../activity/activity.ts'
import { checkFlagContent } from './check-flag.ts'
import { applyPatch, contentOf, type Flag, type FlagContent, type FlagPatch } from './flag.ts'
import { contentToWire } from './flag-resource.ts'
import { recordFlag } from './record-flag.ts'

export interface FlagUpdate {
  readonly flagId: number
  readonly patch: FlagPatch
  /** As it was read in this transaction, by whoever had to look at it before. */
  readonly found?: Flag
  /** The version that the writer has seen; absent means "whatever is there". */
  readonly seenVersion?: number | undefined
  /** What was decided on; when the flag has moved on meanwhile, the transaction is run again. */
  readonly decidedOn?: Pick<Flag, 'version'>
  /** What the activity entry says beside the changes, when Halyard acts by itself. */
  readonly trigger?: Readonly<Record<string, unknown>>
}

/**
 * Raises `missing`, `invalid` for what cannot be evaluated, and `conflict` when the writer has seen an older version and somebody
 * else has changed the same field since. A patch that changes nothing writes nothing.
 */
export async function updateFlag(
  tx: Stores,
  author: Author,
  project: Project,
  update: FlagUpdate,
  now: Instant,
): Promise<Flag> {
  const stored = update.found ?? (await tx.flags.find(project.id, update.flagId))
  if (!stored) throw missing('Flag')
  if (update.decidedOn && update.decidedOn.version !== stored.version) throw new StaleWrite()
  const patch = await patchOnTopOf(tx, stored, update)
  const content = applyPatch(contentOf(stored), patch)
  const changes = diffFields(contentToWire(contentOf(stored)), contentToWire(content))
  if (changes.length === 0) return stored
  const flag: Flag = {
    ...stored,
    ...content,
    version: stored.version + 1,
    updatedAt: now,
    lastModifiedBy: author?.user ?? null,
    activeSince: content.active && !stored.active ? now : stored.activeSince,
  }
  if (touchesReferences(stored, content)) await tx.projects.holdReferences(project.id)
  await checkFlagContent(tx, project, flag, stored)
  if (flag.deleted && !stored.deleted) await refuseWhileNeeded(tx, project, flag)
  const isBack = stored.deleted && !flag.deleted
  if (isBack || (patch.filters && !flag.deleted)) {
    await tx.flags.checkRoom(project.id, { flags: Number(isBack), filters: flag.filters })
  }
  await tx.flags.save(flag)
  await recordFlag(tx, author, project, flag, { activity: 'updated', changes, trigger: update.trigger ?? null }, now)
  return flag
}

/** The change adds or removes something that other flags refer to, or refers to others itself. */
export const touchesReferences = (stored: FlagContent, patch: FlagPatch): boolean =>
  (patch.deleted ?? stored.deleted) !== stored.deleted || refersToOthers(patch.filters ?? stored.filters)

/**
 * What the writer meant, on top of what others have saved since: fields that the writer did not touch are left out, so that they
 * cannot revert somebody else's change.
 */
async function patchOnTopOf(tx: Stores, stored: Flag, { patch, seenVersion }: FlagUpdate): Promise<FlagPatch> {
  if (seenVersion === undefined || seenVersion === stored.version) return patch
  const seen = (await tx.flags.findVersion(stored.id, seenVersion))?.content
  const fields = (Object.keys(patch) as (keyof FlagContent)[]).filter(field => patch[field] !== undefined)
  const touched = fields.filter(field => !seen || !isDeepStrictEqual(patch[field], seen[field]))
  const conflict = touched.find(
    field =>
      !isDeepStrictEqual(stored[field], patch[field]) && (!seen || !isDeepStrictEqual(stored[field], seen[field])),
  )
  if (conflict) {
    const editor = stored.lastModifiedBy?.email ?? 'Halyard itself'
    throw new Problem(
      'conflict',
      `The flag was changed by ${editor} since version ${seenVersion}; it is now at version ${stored.version}. Read it again and repeat your change.`,
    )
  }
  return Object.fromEntries(touched.map(field => [field, patch[field]])) as FlagPatch
}

const dependentsNamedMax = 5

async function refuseWhileNeeded(tx: Stores, project: Project, flag: Flag): Promise<void> {
  const dependents = (await tx.flags.listDependents(project.id)).filter(
    other => other.id !== flag.id && usesFlags(other.filters).includes(flag.id),
  )
  if (dependents.length === 0) return
  const named = dependents.slice(0, dependentsNamedMax).map(other => other.key)
  const more = dependents.length > named.length ? ` and ${dependents.length - named.length} more` : ''
  throw invalid('deleted', 'invalid_input', `Other flags depend on this one: ${named.join(', ')}${more}.`)
}
