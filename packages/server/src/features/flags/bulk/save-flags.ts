import type { Instant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { type Author, diffFields } from '../../activity/activity.ts'
import { type Authorization, authorizeFlagWrite } from '../../change-control/authorize-write.ts'
import type { Permit } from '../../change-control/permit.ts'
import { openReview } from '../../change-control/requests/open-request.ts'
import { readWriteRules, withSaves } from '../../change-control/write-rules.ts'
import { usageDashboard } from '../../dashboards/create-usage-dashboard.ts'
import { newFlag } from '../create-flag.ts'
import { applyPatch, contentOf, type Flag, type FlagPatch, hasPayloads, newFlagContent } from '../flag.ts'
import type { FlagSave } from '../flag-guard.ts'
import { contentToWire } from '../flag-resource.ts'
import { type FlagRecord, recordFlags } from '../record-flag.ts'
import { type JsonSchema, payloadMismatch } from '../schemas/payload-schema.ts'
import { setPayloadSchema } from '../schemas/set-payload-schema.ts'
import { changedFlag } from '../update-flag.ts'

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
 * Creates and updates flags of one project with a statement for many of them, and returns them in the same order. The caller holds the
 * project's references and has checked the filters with the engine. Raises what `createFlag` and `updateFlag` raise.
 */
export async function saveFlags(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  writes: readonly FlagWrite[],
  now: Instant,
  permit: Permit,
): Promise<readonly Flag[]> {
  const proposals = writes.map(write => propose(author, project, write, now))
  const created = proposals.filter(({ stored }) => !stored)
  const updated = proposals.filter(({ stored, record }) => stored && record.changes.length > 0)
  await checkPayloads(
    tx,
    project,
    updated.filter(({ payloadSchema }) => !payloadSchema),
  )
  await tx.flags.checkLimits(project.id, {
    flags: created.length,
    filters: [...created, ...updated].map(({ flag }) => flag.filters),
  })
  const saves = new Map(
    [...created, ...updated].map(proposal => [proposal, { projectId: project.id, ...proposal } satisfies FlagSave]),
  )
  const rules = withSaves(await readWriteRules(tx, project), [...saves.values()])
  const authorizations = new Map<Proposal, Authorization>()
  for (const [proposal, save] of saves) {
    authorizations.set(proposal, await authorizeFlagWrite(tx, permit, project, save, now, rules))
    if (permit.kind !== 'system') permit.checkSave(save)
  }
  const saved = new Map<Proposal, Flag>()
  for (const [index, flag] of (await createAll(tx, created, now)).entries()) saved.set(created[index]!, flag)
  const changed = updated.map(({ stored, flag }) => ({ ...flag, id: stored!.id }))
  await tx.flags.saveAll(changed)
  for (const [index, flag] of changed.entries()) saved.set(updated[index]!, flag)
  const records = [...saved].map(([proposal, flag]) => ({
    flag,
    record: withTrigger(proposal.record, authorizations.get(proposal)!),
  }))
  await recordFlags(tx, author, project, records, now)
  for (const [proposal, { id, version }] of saved) {
    const { bypassed } = authorizations.get(proposal)!
    if (bypassed) await openReview(tx, project, bypassed, { flagId: id, version }, now)
  }
  const results = proposals.map(proposal => saved.get(proposal) ?? proposal.stored!)
  for (const [index, { payloadSchema }] of proposals.entries()) {
    if (payloadSchema) await setPayloadSchema(tx, author, project, results[index]!, payloadSchema, now)
  }
  return results
}

interface Proposal extends Pick<FlagWrite, 'payloadSchema'> {
  readonly stored: Flag | undefined
  readonly flag: Omit<Flag, 'id'>
  readonly record: FlagRecord
  readonly filtersFrom: string
}

function propose(
  author: NonNullable<Author>,
  project: Project,
  { stored, patch, trigger, filtersFrom, payloadSchema }: FlagWrite,
  now: Instant,
): Proposal {
  const declared = payloadSchema && { payloadSchema }
  const content = applyPatch(stored ? contentOf(stored) : newFlagContent(patch.key, now), patch)
  if (!stored) {
    const flag = newFlag(project, author.user, content, now)
    return { stored, flag, record: { activity: 'created', changes: [], trigger }, filtersFrom, ...declared }
  }
  const changes = diffFields(contentToWire(contentOf(stored)), contentToWire(content))
  const flag = changedFlag(stored, author, content, now)
  return { stored, flag, record: { activity: 'updated', changes, trigger }, filtersFrom, ...declared }
}

const withTrigger = (record: FlagRecord, { trigger }: Authorization): FlagRecord =>
  trigger ? { ...record, trigger: { ...record.trigger, ...trigger } } : record

async function createAll(tx: Stores, proposals: readonly Proposal[], now: Instant): Promise<readonly Flag[]> {
  const dashboards = await tx.dashboards.createAll(proposals.map(({ flag }) => usageDashboard(flag, now)))
  const flags = await tx.flags.createAll(
    proposals.map(({ flag }, index) => ({ ...flag, usageDashboardId: dashboards[index]!.id })),
  )
  const ids = flags.map(flag => flag.id)
  await tx.dashboards.setFlags(flags[0]?.projectId ?? 0, ids)
  return flags
}

/** A flag with a payload schema keeps to it. */
async function checkPayloads(tx: Stores, project: Project, updated: readonly Proposal[]): Promise<void> {
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
