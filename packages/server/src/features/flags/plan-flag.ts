import { isDeepStrictEqual } from 'node:util'
import { usesFlags } from '@halyard/engine'
import { type Author, diffFields } from '../../domain/activity.ts'
import {
  applyPatch,
  contentOf,
  type Flag,
  type FlagContent,
  type FlagPatch,
  hasPayloads,
  namedKeys,
  newFlagContent,
} from '../../domain/flag.ts'
import { refersToOthers } from '../../evaluation/subjects/gather-references.ts'
import type { Instant } from '../../instant.ts'
import { invalid, Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Project, User } from '../../tenancy.ts'
import { checkFlagContent } from './check-flag.ts'
import type { FlagSave } from './flag-guard.ts'
import { contentToWire } from './flag-resource.ts'
import type { FlagRecord } from './record-flag.ts'
import type { JsonSchema } from './schemas/payload-schema.ts'
import { checkPayloadSchema } from './schemas/set-payload-schema.ts'

/** A flag as it would be saved, checked. Planning writes nothing. */
export interface PlannedFlag extends FlagSave {
  readonly project: Project
  readonly author: Author
  readonly record: FlagRecord
  /** Replaces the payload schema; null removes it, and undefined leaves it as it is. */
  readonly payloadSchema?: JsonSchema | null | undefined
  readonly at: Instant
}

/** How a change came about, and what comes with it. */
interface FlagChangeOptions {
  /** Why the flag is written, for the activity entry. */
  readonly trigger?: FlagRecord['trigger']
  /** What the filters of the patch were derived from; see `FlagSave`. */
  readonly filtersFrom?: string
  readonly payloadSchema?: JsonSchema | null | undefined
}

export interface FlagCreation extends FlagChangeOptions {
  readonly patch: FlagPatch & { readonly key: string }
}

export interface FlagUpdate extends FlagChangeOptions {
  /** The flag as it was read in this transaction; saving raises `StaleWrite` when it has changed since. */
  readonly stored: Flag
  readonly patch: FlagPatch
  /** The version that the client based its patch on; absent means the stored one. */
  readonly basedOnVersion?: number | undefined
}

/** Raises `invalid` for filters that cannot be evaluated, and when the project is full. A taken key is refused when it is saved. */
export async function planFlagCreation(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  { patch, trigger = null, filtersFrom, payloadSchema }: FlagCreation,
  now: Instant,
): Promise<PlannedFlag> {
  const content = applyPatch(newFlagContent(patch.key, now), patch)
  if (refersToOthers(content.filters)) await tx.projects.holdReferences(project.id)
  await checkFlagContent(tx, project, { ...content, id: 0, version: 1 })
  if (payloadSchema) checkPayloadSchema(payloadSchema, content, 'payload_schema')
  await tx.flags.checkLimits(project.id, { flags: 1, filters: [content.filters] })
  const flag = newFlag(project, author.user, content, now)
  const record = { activity: 'created', changes: [], trigger }
  return {
    projectId: project.id,
    project,
    author,
    stored: undefined,
    flag,
    record,
    filtersFrom,
    payloadSchema,
    at: now,
  }
}

/**
 * Raises `invalid` for what cannot be evaluated, and `conflict` when the client has seen an older version and the same field was changed
 * since. A patch that changes nothing gives a plan without changes.
 */
export async function planFlagUpdate(
  tx: Stores,
  author: Author,
  project: Project,
  update: FlagUpdate,
  now: Instant,
): Promise<PlannedFlag> {
  const { stored, trigger = null, filtersFrom, payloadSchema } = update
  if (payloadSchema !== undefined) await tx.projects.holdReferences(project.id)
  const patch = await patchOnTopOf(tx, update)
  const content = applyPatch(contentOf(stored), patch)
  const changes = diffFields(contentToWire(contentOf(stored)), contentToWire(content))
  const record = { activity: 'updated', changes, trigger }
  const planned = { projectId: project.id, project, author, stored, record, filtersFrom, payloadSchema, at: now }
  if (payloadSchema) checkPayloadSchema(payloadSchema, content, 'payload_schema')
  if (changes.length === 0) return { ...planned, flag: stored }
  const flag = changedFlag(stored, author, content, now)
  if (flag.active && flag.archived) {
    throw invalid('active', 'invalid_input', 'The flag is archived. Unarchive it before you enable it.')
  }
  if (touchesReferences(stored, content)) await tx.projects.holdReferences(project.id)
  await checkFlagContent(tx, project, flag, stored, payloadSchema)
  if (flag.deleted && !stored.deleted) await refuseWhileNeeded(tx, project, flag)
  const isBack = stored.deleted && !flag.deleted
  if (isBack || (patch.filters && !flag.deleted)) {
    await tx.flags.checkLimits(project.id, { flags: Number(isBack), filters: [flag.filters] })
  }
  return { ...planned, flag }
}

/** Nothing of the flag itself would be saved. */
export const isUnchanged = ({ stored, record }: Pick<PlannedFlag, 'stored' | 'record'>): boolean =>
  stored !== undefined && record.changes.length === 0

/** Without its usage dashboard. */
export const newFlag = (project: Project, createdBy: User, content: FlagContent, now: Instant): Omit<Flag, 'id'> => ({
  ...content,
  projectId: project.id,
  createdBy,
  usageDashboardId: 0,
  version: 1,
  updatedAt: now,
  lastModifiedBy: createdBy,
  activeSince: now,
})

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
export async function patchOnTopOf(
  tx: Stores,
  { stored, patch, basedOnVersion }: Pick<FlagUpdate, 'stored' | 'patch' | 'basedOnVersion'>,
): Promise<FlagPatch> {
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
