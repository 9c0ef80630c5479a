import { type Author, diffFields } from '../../../domain/activity.ts'
import type { Authorization } from '../../../domain/authorization.ts'
import { applyPatch, contentOf, type Flag, type FlagPatch, hasPayloads, newFlagContent } from '../../../domain/flag.ts'
import type { Instant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { withGrounds } from '../commit-flag.ts'
import { usageDashboard } from '../create-usage-dashboard.ts'
import { contentToWire } from '../flag-resource.ts'
import { changedFlag, isUnchanged, newFlag, type PlannedFlag } from '../plan-flag.ts'
import { recordFlags } from '../record-flag.ts'
import { type JsonSchema, payloadMismatch } from '../schemas/payload-schema.ts'
import { checkPayloadSchema, savePayloadSchema } from '../schemas/set-payload-schema.ts'

export interface FlagWrite {
  /** As it was read; undefined for a new flag. */
  readonly stored: Flag | undefined
  readonly patch: FlagPatch & { readonly key: string }
  /** Absent: the flag keeps its own. */
  readonly payloadSchema?: JsonSchema
  readonly trigger: Readonly<Record<string, unknown>>
  /** What the filters of the patch were derived from; see `FlagSave`. */
  readonly filtersFrom: string
}

/**
 * Plans new and changed flags of one project together, in the same order. The caller holds the project's references and has checked the
 * filters with the engine. Raises what `planFlagCreation` and `planFlagUpdate` raise.
 */
export async function planFlags(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  writes: readonly FlagWrite[],
  now: Instant,
): Promise<readonly PlannedFlag[]> {
  const planned = writes.map(write => planOf(author, project, write, now))
  for (const { payloadSchema, flag } of planned) {
    if (payloadSchema) checkPayloadSchema(payloadSchema, flag, 'payload_schema')
  }
  const written = planned.filter(plan => !isUnchanged(plan))
  await checkPayloads(
    tx,
    project,
    written.filter(({ stored, payloadSchema }) => stored && !payloadSchema),
  )
  const added = {
    flags: written.filter(({ stored }) => !stored).length,
    filters: written.map(({ flag }) => flag.filters),
  }
  await tx.flags.checkLimits(project.id, added)
  return planned
}

function planOf(
  author: NonNullable<Author>,
  project: Project,
  { stored, patch, trigger, filtersFrom, payloadSchema }: FlagWrite,
  now: Instant,
): PlannedFlag {
  const planned = { projectId: project.id, project, author, stored, filtersFrom, payloadSchema, at: now }
  const content = applyPatch(stored ? contentOf(stored) : newFlagContent(patch.key, now), patch)
  if (!stored) {
    const flag = newFlag(project, author.user, content, now)
    return { ...planned, flag, record: { activity: 'created', changes: [], trigger } }
  }
  const changes = diffFields(contentToWire(contentOf(stored)), contentToWire(content))
  const flag = changes.length === 0 ? stored : changedFlag(stored, author, content, now)
  return { ...planned, flag, record: { activity: 'updated', changes, trigger } }
}

/** As `commitFlag`, with a statement for many flags of one project. Returns them in the same order. */
export async function commitFlags(
  tx: Stores,
  planned: readonly PlannedFlag[],
  authorizations: ReadonlyMap<PlannedFlag, Authorization>,
): Promise<readonly Flag[]> {
  const [first] = planned
  if (!first) return []
  const { project, author, at } = first
  const authorized = planned.flatMap(plan => {
    const authorization = authorizations.get(plan)
    return authorization && !isUnchanged(plan) ? [{ plan, authorization }] : []
  })
  const created = authorized.filter(({ plan }) => !plan.stored)
  const updated = authorized.filter(({ plan }) => plan.stored)
  const saved = new Map<PlannedFlag, Flag>()
  for (const [index, flag] of (await createAll(tx, created, at)).entries()) saved.set(created[index]!.plan, flag)
  const changed = updated.map(({ plan: { stored, flag }, authorization }) => ({
    flag: { ...flag, id: stored!.id },
    authorization,
  }))
  await tx.flags.saveAll(changed)
  for (const [index, { flag }] of changed.entries()) saved.set(updated[index]!.plan, flag)
  const records = [...created, ...updated].map(({ plan, authorization }) => ({
    flag: saved.get(plan)!,
    record: withGrounds(plan.record, authorization),
  }))
  await recordFlags(tx, author, project, records, at)
  const flags = planned.map(plan => saved.get(plan) ?? plan.stored!)
  for (const [index, { payloadSchema }] of planned.entries()) {
    if (payloadSchema) await savePayloadSchema(tx, author, project, flags[index]!, payloadSchema, at)
  }
  return flags
}

interface AuthorizedFlag {
  readonly plan: PlannedFlag
  readonly authorization: Authorization
}

async function createAll(tx: Stores, created: readonly AuthorizedFlag[], now: Instant): Promise<readonly Flag[]> {
  const dashboards = await tx.dashboards.createAll(created.map(({ plan }) => usageDashboard(plan.flag, now)))
  const flags = await tx.flags.createAll(
    created.map(({ plan: { flag }, authorization }, index) => ({
      flag: { ...flag, usageDashboardId: dashboards[index]!.id },
      authorization,
    })),
  )
  const ids = flags.map(flag => flag.id)
  await tx.dashboards.setFlags(flags[0]?.projectId ?? 0, ids)
  return flags
}

/** A flag with a payload schema keeps to it. */
async function checkPayloads(tx: Stores, project: Project, updated: readonly PlannedFlag[]): Promise<void> {
  const { count } = await tx.payloadSchemas.list(project.id, { limit: 1, offset: 0 })
  if (count === 0) return
  for (const { stored, flag } of updated) {
    if (!stored || !hasPayloads(flag.filters)) continue
    const declared = await tx.payloadSchemas.find(project.id, stored.id)
    const mismatch = declared && payloadMismatch(declared.schema, flag.filters)
    if (mismatch)
      throw invalid('filters', 'payload_mismatch', `${mismatch} The flag "${flag.key}" has a payload schema.`)
  }
}
