import { isDeepStrictEqual } from 'node:util'
import { remapFilters, usesFlags } from '@halyard/engine'
import type { ApprovalNeeded } from '../../../domain/approval.ts'
import { refusalOf } from '../../../domain/approval.ts'
import type { Cohort } from '../../../domain/cohort.ts'
import type { Flag, FlagPatch } from '../../../domain/flag.ts'
import { invalid, Problem } from '../../../problem.ts'
import { StaleWrite } from '../../../storage/save-row.ts'
import type { Stores } from '../../../stores.ts'
import { type Actor, levelInProject, type Organization, type Project } from '../../../tenancy.ts'
import { canEditFlag } from '../../access/access.ts'
import { grantsFor, requireCanEdit, requireNoViewer } from '../../access/grants.ts'
import type { FlagGate } from '../flag-writes.ts'
import { planFlagCreation, planFlagUpdate } from '../plan-flag.ts'
import type { JsonSchema } from '../schemas/payload-schema.ts'
import { cohortsNeededBy, copyCohorts } from './copy-cohorts.ts'

export interface FlagCopy {
  readonly key: string
  readonly fromProjectId: number
  readonly targetProjectIds: readonly number[]
  /** The copies start switched off. */
  readonly isDisabled: boolean
}

export interface Source {
  readonly project: Project
  readonly flag: Flag
  readonly cohorts: readonly Cohort[]
  readonly payloadSchema: JsonSchema | undefined
  /** The flags it depends on: key by id. */
  readonly dependencies: ReadonlyMap<string, string>
}

/**
 * Copies a flag into every target, or raises `invalid` that names each target that cannot take it and why; then the transaction
 * must be given up. A live flag with the key is updated in place. Raises `forbidden` when the caller may not edit the source.
 */
export async function copyFlag(
  gate: FlagGate,
  actor: Actor,
  organization: Organization,
  copy: FlagCopy,
): Promise<readonly CopiedInto[]> {
  const { tx } = gate
  const source = await findSource(tx, actor, organization, copy)
  const patchOf = (patch: CopiedFields) => (copy.isDisabled ? { ...patch, active: false } : patch)
  const copies: CopiedInto[] = []
  const failures: string[] = []
  const gated: number[] = []
  // In ascending order, as every writer that locks several projects.
  for (const id of [...new Set(copy.targetProjectIds)].sort((a, b) => a - b)) {
    try {
      const target = await findProject(tx, actor, organization, id)
      if (!target) throw invalid(null, 'does_not_exist', 'The project does not exist in this organization.')
      if (target.id === source.project.id)
        throw invalid(null, 'invalid_input', 'The flag already exists in that project.')
      const copied = await copyInto(gate, actor, source, target, patchOf)
      if ('needed' in copied) gated.push(id)
      else copies.push(copied)
    } catch (error) {
      if (!(error instanceof Problem) || (error.kind !== 'invalid' && error.kind !== 'forbidden')) throw error
      // The key was free a moment ago: another request created the flag, which is found in the next run.
      if (error.code === 'unique') throw new StaleWrite()
      failures.push(`Project ${id}: ${error.message}`)
    }
  }
  if (failures.length > 0) {
    throw invalid('target_project_ids', 'invalid_input', `Nothing was copied. ${failures.join(' ')}`)
  }
  if (gated.length > 0) throw needsApprovalIn(gated)
  return copies
}

/** No change request is opened: cohorts that would be copied along do not exist yet, so nothing could refer to them. */
const needsApprovalIn = (projectIds: readonly number[]): Problem =>
  new Problem(
    'approval_required',
    `Nothing was copied. Changes need approval in project ${projectIds.join(', ')}: propose them there.`,
    { field: 'target_project_ids', extra: { change_request: null } },
  )

/** Raises `invalid` for an unknown project or key, and `forbidden` for a flag that the actor cannot edit. */
export async function findSource(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  copy: Pick<FlagCopy, 'key' | 'fromProjectId'>,
): Promise<Source> {
  const project = await findProject(tx, actor, organization, copy.fromProjectId)
  if (!project) {
    throw invalid('from_project', 'does_not_exist', `There is no project ${copy.fromProjectId} in this organization.`)
  }
  const flag = await tx.flags.findLiveByKey(project.id, copy.key)
  if (!flag) {
    throw invalid('feature_flag_key', 'does_not_exist', `There is no flag "${copy.key}" in the project to copy from.`)
  }
  await requireCanEdit(tx, actor, project, flag)
  const dependencies = await tx.flags.findLive(project.id, usesFlags(flag.filters))
  return {
    project,
    flag,
    cohorts: await cohortsNeededBy(tx, project.id, flag.filters),
    payloadSchema: (await tx.payloadSchemas.find(project.id, flag.id))?.schema,
    dependencies: new Map(dependencies.map(other => [String(other.id), other.key])),
  }
}

/** Undefined as well for a project of another organization, and for one that the key cannot see. */
export async function findProject(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  id: number,
): Promise<Project | undefined> {
  const project = await tx.projects.find(id)
  const isVisible = project?.organizationId === organization.id && levelInProject(actor, project) !== undefined
  return isVisible ? project : undefined
}

/**
 * Copies the flag with the cohorts that it needs; `patchOf` decides what of it arrives. When it needs approval, only cohorts were created,
 * and the transaction must be given up.
 */
export async function copyInto(
  gate: FlagGate,
  actor: Actor,
  source: Source,
  target: Project,
  patchOf: (copied: CopiedFields) => CopiedFields,
): Promise<CopiedInto | { readonly needed: ApprovalNeeded }> {
  const { tx, now } = gate
  const { flag, project } = source
  const existing = await tx.flags.findLiveByKey(target.id, flag.key)
  if (existing && !canEditFlag(await grantsFor(tx, actor, target), existing)) {
    throw invalid(null, 'permission_denied', 'You cannot edit the flag with this key in that project.')
  }
  if (!existing) await requireNoViewer(tx, actor, target)
  const flags = await dependenciesIn(tx, source, target)
  const { ids: cohorts, createdIds: createdCohortIds } = await copyCohorts(tx, actor, target, source.cohorts, now)
  const patch = patchOf({
    key: flag.key,
    name: flag.name,
    filters: remapFilters(flag.filters, {
      cohort: id => cohorts.get(id),
      flag: reference => flags.get(reference),
      groupType: index => groupTypeIn(target, project.groupTypes[index]),
    }),
    active: flag.active,
    ensureExperienceContinuity: flag.ensureExperienceContinuity,
    bucketingIdentifier: flag.bucketingIdentifier,
    evaluationRuntime: flag.evaluationRuntime,
    evaluationContexts: flag.evaluationContexts,
  })
  const trigger = { copied_from_project: project.id, copied_from_flag: flag.id }
  // Cohorts that are copied along get other ids each time the transaction is run.
  const filtersFrom = `${project.id} ${flag.id} ${flag.version}`
  const schema = await schemaChange(tx, source, target, existing, patch)
  const change = { patch, trigger, filtersFrom, payloadSchema: schema?.next }
  const planned = existing
    ? await planFlagUpdate(tx, actor, target, { ...change, stored: existing }, now)
    : await planFlagCreation(tx, actor, target, change, now)
  const saved = await gate.saveFlag(planned)
  if (saved.kind === 'needs_approval') return { needed: saved.needed }
  if (saved.kind !== 'saved') throw refusalOf(saved)
  return { flag: saved.value, replacedVersion: existing?.version, replacedSchema: schema?.before, createdCohortIds }
}

export interface CopiedInto {
  readonly flag: Flag
  /** Undefined when the flag was created. */
  readonly replacedVersion: number | undefined
  /** Null when there was none; undefined when it did not change. */
  readonly replacedSchema: JsonSchema | null | undefined
  readonly createdCohortIds: readonly number[]
}

/** The schema arrives with the payloads that it is about; a copy that keeps other payloads keeps its own schema. */
async function schemaChange(
  tx: Stores,
  { flag, payloadSchema }: Source,
  target: Project,
  existing: Flag | undefined,
  patch: CopiedFields,
): Promise<{ readonly before: JsonSchema | null; readonly next: JsonSchema } | undefined> {
  const filters = patch.filters ?? existing?.filters
  if (payloadSchema === undefined || !isDeepStrictEqual(filters?.payloads, flag.filters.payloads)) return undefined
  const before = (existing && (await tx.payloadSchemas.find(target.id, existing.id))?.schema) ?? null
  return isDeepStrictEqual(before, payloadSchema) ? undefined : { before, next: payloadSchema }
}

type CopiedFields = FlagPatch & { readonly key: string }

/** The ids, in the target, of the flags that the source depends on. Raises `invalid` that names the missing ones. */
async function dependenciesIn(tx: Stores, source: Source, target: Project): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>()
  const missing: string[] = []
  for (const [id, key] of source.dependencies) {
    const there = await tx.flags.findLiveByKey(target.id, key)
    if (there) ids.set(id, String(there.id))
    else missing.push(`"${key}"`)
  }
  if (missing.length === 0) return ids
  throw invalid(null, 'does_not_exist', `The flag depends on ${missing.join(', ')}, which the project does not have.`)
}

/** Group types are numbered by each project on its own; it is the name that counts. */
function groupTypeIn(target: Project, name: string | undefined): number | undefined {
  const index = Object.entries(target.groupTypes).find(([, other]) => other === name)?.[0]
  return index === undefined ? undefined : Number(index)
}
