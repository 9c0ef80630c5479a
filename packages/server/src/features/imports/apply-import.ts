import { cohortDescriptionCharactersMax } from '@halyard/contract'
import { remapFilters } from '@halyard/engine'
import { sourceIdOf } from '@halyard/migrate/model'
import { groupTypesUsedBy } from '@halyard/migrate/model/group-types'
import { cohortHash, flagHash } from '@halyard/migrate/plan/drift'
import { refusalOf, type Saved } from '../../domain/approval.ts'
import type { Cohort } from '../../domain/cohort.ts'
import type { FreeObject } from '../../domain/flag.ts'
import type { Instant } from '../../instant.ts'
import { Problem } from '../../problem.ts'
import { inParts } from '../../storage/in-batches.ts'
import type { Stores } from '../../stores.ts'
import type { Actor, Organization, Project } from '../../tenancy.ts'
import { createSet } from '../change-control/environments/save-set.ts'
import type { Gate } from '../change-control/gate.ts'
import { createCohorts } from '../cohorts/create-cohort.ts'
import { namedPeople } from '../cohorts/members/members.ts'
import { type CohortUpdate, planCohortUpdate } from '../cohorts/plan-cohort.ts'
import { type FlagWrite, planFlags } from '../flags/bulk/many-flags.ts'
import { announceProject } from '../projects/create-project.ts'
import type { CurrentState } from './current-state.ts'
import type { ImportLink, ImportPlan, Outcome } from './import-plan.ts'
import { stepsOf } from './plan-import.ts'
import { cohortOf, flagOf, type PreparedImport, type PreparedItem, type PreparedTarget } from './prepare-import.ts'
import { requireSetCreation } from './read-targets.ts'

interface ImportContext {
  readonly gate: Gate
  readonly actor: Actor
  readonly project: Project
  readonly plan: ImportPlan
  readonly current: CurrentState
  /** By source id: what references become. */
  readonly flagIds: Map<string, number>
  readonly cohortIds: Map<string, number>
  /** By name. */
  readonly groupTypes: ReadonlyMap<string, number>
  readonly links: ImportLink[]
  readonly outcomes: Map<number, Outcome>
}

/** Flags or cohorts that are written together, which bounds the memory of their rows. */
const itemsAtOnceMax = 1000

/** Raised when a target has changed since the import was prepared: it has to be prepared again. */
export class PreparationOutdated extends Error {
  constructor() {
    super('A target has changed since the import was prepared.')
    this.name = 'PreparationOutdated'
  }
}

/**
 * Imports into all projects; the caller's transaction makes it all or nothing. It only writes: what to write was prepared before, so that
 * other writers wait for a short time. Raises `approval_required` when a project needs approval.
 */
export async function applyImport(
  gate: Gate,
  actor: Actor,
  organization: Organization,
  { plan, targets, head }: PreparedImport,
  report: (step: string) => void,
): Promise<ImportPlan> {
  const { tx, now } = gate
  const projectIds = targets.flatMap(({ project }) => project?.id ?? [])
  for (const projectId of projectIds) await tx.projects.holdReferences(projectId)
  if (await tx.changes.hasChanged(organization.id, projectIds, head)) throw new PreparationOutdated()
  const created = await createProjects(tx, actor, organization, plan, now)
  const outcomes = new Map<number, Outcome>()
  for (const target of targets) {
    const { current, existingIds } = target
    const project = target.project ?? created.projects.get(target.target)!
    const links: ImportLink[] = []
    const ids = { flagIds: new Map(existingIds.flag), cohortIds: new Map(existingIds.segment) }
    const groupTypes = await ensureGroupTypes(tx, project, target, now)
    const shared = { gate, actor, project, plan, current, links, outcomes }
    const context: ImportContext = { ...shared, groupTypes, ...ids }
    await applyTarget(target, context, report)
    await tx.imports.saveLinks(project.id, plan.source, links, now)
  }
  await tx.imports.saveOutcomes(plan.id, outcomes)
  await tx.imports.setApplied(plan.id, now)
  return { ...created.plan, appliedAt: now }
}

/** Creates the group types that the written flags and cohorts refer to. Raises `conflict` when five others exist meanwhile. */
async function ensureGroupTypes(
  tx: Stores,
  project: Project,
  { flagBatches, cohortBatches }: PreparedTarget,
  now: Instant,
): Promise<ReadonlyMap<string, number>> {
  const written = { flags: flagBatches.flat().map(flagOf), cohorts: cohortBatches.flat().map(cohortOf) }
  const indexes = new Map<string, number>()
  let hasNew = false
  for (const name of groupTypesUsedBy(written)) {
    const assigned = await tx.groupTypes.ensure(project.id, name)
    if (!assigned) {
      const message = `${project.name} has five group types, so "${name}" cannot be created; nothing was imported. Plan again.`
      throw new Problem('conflict', message, { code: 'plan_is_stale' })
    }
    indexes.set(name, assigned.index)
    hasNew ||= assigned.isNew
  }
  if (hasNew) await announceProject(tx, project, now)
  return indexes
}

/** The environment set of the plan with its projects, by the index of the target. */
async function createProjects(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  plan: ImportPlan,
  now: Instant,
): Promise<{ readonly plan: ImportPlan; readonly projects: ReadonlyMap<number, Project> }> {
  const projects = new Map<number, Project>()
  const isNew = plan.newEnvironmentSet !== null && plan.targets.some(({ projectId }) => projectId === null)
  if (!isNew) return { plan, projects }
  requireSetCreation(actor, organization)
  const environments = plan.targets.map(({ name }) => ({ name: name!, is_production: /^prod/i.test(name!) }))
  const set = await createSet(tx, actor, organization, { name: plan.newEnvironmentSet!, environments }, now)
  for (const [target, { projectId }] of set.environments.entries()) {
    projects.set(target, (await tx.projects.find(projectId))!)
  }
  const targets = plan.targets.map((target, index) => ({ ...target, projectId: projects.get(index)!.id }))
  if (!(await tx.imports.setTargets(plan, targets))) throw new PreparationOutdated()
  return { plan: { ...plan, targets }, projects }
}

async function applyTarget(
  { name, cohortBatches, flagBatches, outcomes }: PreparedTarget,
  context: ImportContext,
  report: (step: string) => void,
): Promise<void> {
  for (const [position, outcome] of outcomes) context.outcomes.set(position, outcome)
  for (const batch of cohortBatches) {
    for (const part of inParts(batch, itemsAtOnceMax)) await applyCohorts(part, context)
  }
  const total = flagBatches.reduce((sum, batch) => sum + batch.length, 0)
  const saved = stepsOf(report, name, total, 'saved')
  let count = 0
  for (const batch of flagBatches) {
    for (const part of inParts(batch, itemsAtOnceMax)) {
      await applyFlags(part, context)
      count += part.length
      saved(count)
    }
  }
}

async function applyFlags(items: readonly PreparedItem[], context: ImportContext): Promise<void> {
  const { gate, actor, project, flagIds, links, outcomes } = context
  const writes = items.map(item => flagWrite(item, context))
  const planned = await planFlags(gate.tx, actor, project, writes, gate.now)
  const saved = requireSaved(project, await gate.saveFlags(planned))
  for (const [index, { position, kind, sourceId, sourceHash }] of items.entries()) {
    const flag = saved[index]!
    const { stored, payloadSchema } = writes[index]!
    flagIds.set(sourceId, flag.id)
    const targetHash = flagHash(flag, payloadSchema)
    links.push({ kind, sourceId, flagId: flag.id, cohortId: null, sourceHash, targetHash })
    outcomes.set(position, stored ? 'updated' : 'created')
  }
}

function flagWrite(item: PreparedItem, context: ImportContext): FlagWrite {
  const { plan, current, flagIds } = context
  const flag = flagOf(item)
  return {
    stored: current.flag(flagIds.get(item.sourceId)),
    patch: {
      key: flag.key,
      name: flag.name.slice(0, 10_000),
      filters: (item.hasReferences ? resolve(flag.filters, context) : flag.filters) as FreeObject,
      active: flag.active && !flag.archived,
      tags: flag.tags,
      archived: flag.archived,
      ensureExperienceContinuity: flag.ensureExperienceContinuity ?? false,
      bucketingIdentifier: flag.bucketingIdentifier ?? null,
    },
    ...(flag.payloadSchema && { payloadSchema: flag.payloadSchema }),
    trigger: { imported_from: plan.source, source_id: flag.sourceId },
    filtersFrom: `${plan.source} ${flag.sourceId} ${item.sourceHash}`,
  }
}

async function applyCohorts(items: readonly PreparedItem[], context: ImportContext): Promise<void> {
  const { gate, actor, project, cohortIds, links, outcomes } = context
  const { tx, now } = gate
  const writes = items.map(item => cohortWrite(item, context))
  const created = await createCohorts(
    tx,
    actor,
    project,
    writes.filter(({ stored }) => !stored),
    now,
  )
  const next = created.values()
  for (const [index, { stored, content, people }] of writes.entries()) {
    const { position, kind, sourceId, sourceHash } = items[index]!
    const saved = stored
      ? await updateCohort(context, { cohortId: stored.id, patch: content, people })
      : next.next().value!
    cohortIds.set(sourceId, saved.id)
    links.push({ kind, sourceId, flagId: null, cohortId: saved.id, sourceHash, targetHash: cohortHash(saved) })
    outcomes.set(position, stored ? 'updated' : 'created')
  }
}

function cohortWrite(item: PreparedItem, context: ImportContext) {
  const { content: imported, name, description = '' } = cohortOf(item)
  const isStatic = 'ids' in imported
  const stored = context.current.cohort(context.cohortIds.get(item.sourceId))
  return {
    // A cohort cannot change its kind, so another one takes its place.
    stored: stored?.isStatic === isStatic ? stored : undefined,
    isStatic,
    people: namedPeople(isStatic ? imported.ids : []),
    content: {
      name,
      description: description.slice(0, cohortDescriptionCharactersMax),
      filters: isStatic ? {} : (resolve(imported.filters, context) as unknown as FreeObject),
      deleted: false,
    },
  }
}

const resolve = <T>(filters: T, { flagIds, cohortIds, groupTypes }: ImportContext): T =>
  remapFilters(filters, {
    cohort: id => cohortIds.get(sourceIdOf(id) ?? ''),
    flag: id => flagIds.get(sourceIdOf(id) ?? ''),
    groupType: index => groupTypes.get(sourceIdOf(index) ?? ''),
  })

async function updateCohort({ gate, actor, project }: ImportContext, update: CohortUpdate): Promise<Cohort> {
  const planned = await planCohortUpdate(gate.tx, actor, project, update, gate.now)
  return requireSaved(project, await gate.saveCohort(planned)).cohort
}

/** No change requests are opened: cohorts that come along do not exist yet, so nothing could refer to them. */
function requireSaved<T>(project: Project, saved: Saved<T>): T {
  if (saved.kind === 'saved') return saved.value
  if (saved.kind !== 'needs_approval') throw refusalOf(saved)
  throw new Problem(
    'approval_required',
    `Changes of "${saved.needed.name}" need approval in ${project.name}; nothing was imported. Import into another environment and promote.`,
    { extra: { change_request: null } },
  )
}
