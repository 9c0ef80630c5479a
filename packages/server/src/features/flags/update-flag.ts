import { isDeepStrictEqual } from 'node:util'
import { usesFlags } from '@halyard/engine'
import { refersToOthers } from '../../evaluation/subjects/gather-references.ts'
import type { Instant } from '../../instant.ts'
import { invalid, Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { type Author, diffFields } from '../activity/activity.ts'
import { authorizeFlagWrite } from '../change-control/authorize-write.ts'
import type { Permit } from '../change-control/permit.ts'
import { openReview } from '../change-control/requests/open-request.ts'
import { checkFlagContent } from './check-flag.ts'
import { applyPatch, contentOf, type Flag, type FlagContent, type FlagPatch, hasPayloads, namedKeys } from './flag.ts'
import { contentToWire } from './flag-resource.ts'
import { recordFlag } from './record-flag.ts'

export interface FlagUpdate {
  /** The flag as it was read in this transaction; saving raises `StaleWrite` when it has changed since. */
  readonly stored: Flag
  readonly patch: FlagPatch
  /** The version that the client based its patch on; absent means the stored one. */
  readonly basedOnVersion?: number | undefined
  /** Why the flag was changed, for the activity entry. */
  readonly trigger?: Readonly<Record<string, unknown>>
  /** What the filters of the patch were derived from; see `FlagSave`. */
  readonly filtersFrom?: string
}

/**
 * Raises `invalid` for what cannot be evaluated, and `conflict` when the client has seen an older version and the same field was changed
 * since; `ApprovalRequired` when a policy names the change. A patch that changes nothing writes nothing.
 */
export async function updateFlag(
  tx: Stores,
  author: Author,
  project: Project,
  update: FlagUpdate,
  now: Instant,
  permit: Permit,
): Promise<Flag> {
  const { stored, trigger = null, filtersFrom } = update
  const patch = await patchOnTopOf(tx, update)
  const content = applyPatch(contentOf(stored), patch)
  const changes = diffFields(contentToWire(contentOf(stored)), contentToWire(content))
  if (changes.length === 0) return stored
  const flag = changedFlag(stored, author, content, now)
  if (flag.active && flag.archived) {
    throw invalid('active', 'invalid_input', 'The flag is archived. Unarchive it before you enable it.')
  }
  if (touchesReferences(stored, content)) await tx.projects.holdReferences(project.id)
  await checkFlagContent(tx, project, flag, stored)
  if (flag.deleted && !stored.deleted) await refuseWhileNeeded(tx, project, flag)
  const isBack = stored.deleted && !flag.deleted
  if (isBack || (patch.filters && !flag.deleted)) {
    await tx.flags.checkLimits(project.id, { flags: Number(isBack), filters: [flag.filters] })
  }
  const save = { projectId: project.id, stored, flag, filtersFrom }
  const authorization = await authorizeFlagWrite(tx, permit, project, save, now)
  if (permit.kind !== 'system') permit.checkSave(save)
  await tx.flags.save(flag)
  const grounds = authorization.trigger ? { ...trigger, ...authorization.trigger } : trigger
  await recordFlag(tx, author, project, flag, { activity: 'updated', changes, trigger: grounds }, now)
  if (authorization.bypassed) {
    await openReview(tx, project, authorization.bypassed, { flagId: flag.id, version: flag.version }, now)
  }
  return flag
}

export const changedFlag = (stored: Flag, author: Author, content: FlagContent, now: Instant): Flag => ({
  ...stored,
  ...content,
  version: stored.version + 1,
  updatedAt: now,
  lastModifiedBy: author?.user ?? null,
  activeSince: content.active && !stored.active ? now : stored.activeSince,
})

/** The change adds or removes something that other flags refer to, or refers to others itself or to a payload schema. */
export const touchesReferences = (stored: FlagContent, patch: FlagPatch): boolean =>
  (patch.deleted ?? stored.deleted) !== stored.deleted ||
  refersToOthers(patch.filters ?? stored.filters) ||
  hasPayloads(patch.filters ?? stored.filters)

/**
 * The patch, rebased onto what was saved since: fields that the client did not change are left out, so that they cannot revert the change
 * of another client.
 */
export async function patchOnTopOf(tx: Stores, { stored, patch, basedOnVersion }: FlagUpdate): Promise<FlagPatch> {
  if (basedOnVersion === undefined || basedOnVersion === stored.version) return patch
  const seen = (await tx.flags.findVersion(stored.id, basedOnVersion))?.content
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
      `Version ${basedOnVersion} is out of date: ${editor} changed the flag, which is at version ${stored.version}. Read it and try again.`,
    )
  }
  return Object.fromEntries(touched.map(field => [field, patch[field]])) as FlagPatch
}

async function refuseWhileNeeded(tx: Stores, project: Project, flag: Flag): Promise<void> {
  const dependents = (await tx.flags.listDependents(project.id)).filter(
    other => other.id !== flag.id && usesFlags(other.filters).includes(flag.id),
  )
  if (dependents.length === 0) return
  const keys = namedKeys(dependents.map(({ key }) => key))
  throw invalid('deleted', 'invalid_input', `Other flags depend on this one: ${keys}.`)
}
