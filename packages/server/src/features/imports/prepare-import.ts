import { createChecker } from '@halyard/migrate/convert/check-imported'
import type { ImportedCohort, ImportedFlag, ImportReason } from '@halyard/migrate/model'
import { groupTypesIn, withGroupTypes } from '@halyard/migrate/model/group-types'
import { type Uses, usesOf, usesOfCohort } from '@halyard/migrate/model/refuse-dependents'
import { type Definition, sourceHashOf } from '@halyard/migrate/plan/drift'
import { TimeSlice } from '../../concurrency/time-slice.ts'
import { flagDefinition } from '../../evaluation/projects/flag-definition.ts'
import { forbidden, invalid, missing, Problem } from '../../problem.ts'
import type { Database } from '../../stores.ts'
import { type Actor, hasAnyScope, type Organization, type Project } from '../../tenancy.ts'
import { canEditFlag, type FlagGrants } from '../access/access.ts'
import { grantsFor } from '../access/grants.ts'
import { findProject } from '../flags/copies/copy-flag.ts'
import { targetRules } from './convert-file.ts'
import { type CurrentState, emptyState, readCurrentState } from './current-state.ts'
import type { ImportPlan, Outcome, PlannedItem } from './import-plan.ts'
import { newProject, stepsOf } from './plan-import.ts'

export interface ApplyOptions {
  readonly onlyExact: boolean
  /** Also what was changed or created here. */
  readonly overwrite: boolean
}

/** What applying a plan will write, computed before its transaction. */
export interface PreparedImport {
  readonly plan: ImportPlan
  readonly targets: readonly PreparedTarget[]
  /** The newest change when the current state was read: a later one in a target makes this out of date. */
  readonly head: number
}

/** An item to write. */
export interface PreparedItem extends PlannedItem {
  readonly sourceHash: string
  /** Whether its filters name flags, cohorts or group types, whose ids are not known before they are written. */
  readonly hasReferences: boolean
}

export interface PreparedTarget {
  /** Index in the plan's targets. */
  readonly target: number
  /** Null when the import creates it. */
  readonly project: Project | null
  readonly name: string
  readonly current: CurrentState
  /** To write. Cohorts of one batch do not depend on each other, only on those of earlier batches. */
  readonly cohortBatches: readonly (readonly PreparedItem[])[]
  /** Likewise. */
  readonly flagBatches: readonly (readonly PreparedItem[])[]
  /** By source id: what is stored already. */
  readonly existingIds: Readonly<Record<PlannedItem['kind'], ReadonlyMap<string, number>>>
  /** By position, of what is not written. */
  readonly outcomes: ReadonlyMap<number, Outcome>
}

interface State {
  readonly target: number
  readonly project: Project | null
  readonly name: string
  /** Null for a new project, in which there is nothing to edit. */
  readonly grants: FlagGrants | null
  readonly items: readonly PlannedItem[]
  readonly current: CurrentState
}

/**
 * Decides what to write and checks it with the engine, outside of any transaction: for thousands of flags this takes seconds. Raises
 * `conflict` when something has changed since the plan.
 */
export async function prepareImport(
  database: Database,
  actor: Actor,
  organization: Organization,
  plan: ImportPlan,
  options: ApplyOptions,
  report: (step: string) => void,
): Promise<PreparedImport> {
  const { head, states } = await database.read(async tx => {
    const states: State[] = []
    for (const [target, { projectId, name }] of plan.targets.entries()) {
      const items = await tx.imports.readItems(plan.id, target)
      if (projectId === null) {
        states.push({ target, project: null, name: name ?? '', grants: null, items, current: emptyState() })
        continue
      }
      const project = await findProject(tx, actor, organization, projectId)
      if (!project) throw missing('Project')
      states.push({
        target,
        project,
        name: project.name,
        items,
        grants: await grantsFor(tx, actor, project),
        current: await readCurrentState(tx, projectId, plan.source),
      })
    }
    return { head: await tx.changes.head(), states }
  })
  const targets: PreparedTarget[] = []
  for (const state of states) targets.push(await prepareTarget(actor, state, options, report))
  // In ascending order, as every writer that locks several projects.
  return { plan, head, targets: targets.sort((a, b) => (a.project?.id ?? 0) - (b.project?.id ?? 0)) }
}

async function prepareTarget(
  actor: Actor,
  { target, project, name, grants, items, current }: State,
  options: ApplyOptions,
  report: (step: string) => void,
): Promise<PreparedTarget> {
  const slice = new TimeSlice()
  const outcomes = new Map<number, Outcome>()
  const cohorts: PreparedItem[] = []
  const flags: PreparedItem[] = []
  /** What exists here after the import. */
  const available = new Set<string>()
  const existingIds = { flag: new Map<string, number>(), segment: new Map<string, number>() }
  for (const item of items) {
    await slice.next()
    const existing = current.existingId(item)
    if (existing !== undefined) existingIds[item.kind].set(item.sourceId, existing)
    const outcome = outcomeOf(item, current, options, available)
    if (outcome) outcomes.set(item.position, outcome)
    else (item.kind === 'flag' ? flags : cohorts).push(preparedItem(item))
    if (!outcome || existing !== undefined) available.add(`${item.kind} ${item.sourceId}`)
  }
  if (cohorts.length > 0 && !hasAnyScope(actor.key, ['cohort:write'])) {
    throw forbidden('The file has segments: this key also needs the scope cohort:write.')
  }
  for (const item of flags) {
    const stored = current.flag(existingIds.flag.get(item.sourceId))
    if (stored && grants && !canEditFlag(grants, stored))
      throw forbidden(`You cannot edit the flag "${stored.key}" in ${name}.`)
  }
  const cohortBatches = batchesOf(cohorts, item => usesOfCohort(cohortOf(item)).cohorts)
  const flagBatches = batchesOf(flags, item => usesOf(flagOf(item)).flags)
  const prepared = { target, project, name, current, cohortBatches, flagBatches, existingIds, outcomes }
  await checkWritten(prepared, report)
  return prepared
}

function preparedItem(item: PlannedItem): PreparedItem {
  const definition = item.definition!
  const { flags, cohorts } = usesOfDefinition(definition)
  const hasReferences = flags.length + cohorts.length > 0 || referencesGroupTypes(definition)
  return { ...item, sourceHash: sourceHashOf(definition), hasReferences }
}

const referencesGroupTypes = (definition: Definition): boolean =>
  groupTypesIn('flag' in definition ? definition.flag.filters : definition.cohort.content).length > 0

const usesOfDefinition = (definition: Definition): Uses =>
  'flag' in definition ? usesOf(definition.flag) : usesOfCohort(definition.cohort)

/** Undefined for an item that is written. */
function outcomeOf(
  item: PlannedItem,
  current: CurrentState,
  { onlyExact, overwrite }: ApplyOptions,
  available: ReadonlySet<string>,
): Outcome | undefined {
  const { definition, drift, status } = item
  if (definition === null) return 'skipped'
  if (current.drift(definition) !== drift) {
    throw new Problem('conflict', 'Something has changed since the plan; nothing was imported. Plan again.', {
      code: 'plan_is_stale',
    })
  }
  if (onlyExact && status !== 'exact') return 'skipped'
  if (drift === 'unchanged') return 'unchanged'
  if (drift !== 'new' && drift !== 'changed_at_source' && !overwrite) return 'skipped'
  const uses = usesOfDefinition(definition)
  // What it depends on may have been left out on request.
  const hasAll =
    uses.flags.every(id => available.has(`flag ${id}`)) && uses.cohorts.every(id => available.has(`segment ${id}`))
  return hasAll ? undefined : 'skipped'
}

/** The file was checked alone; here, what it refers to may be something else. Raises `invalid`. */
async function checkWritten(
  { project, name, current, cohortBatches, flagBatches, existingIds }: PreparedTarget,
  report: (step: string) => void,
): Promise<void> {
  const flags = flagBatches.flat().map(flagOf)
  const cohorts = cohortBatches.flat().map(cohortOf)
  const target = withGroupTypes(project ?? newProject(name), { flags, cohorts })
  const check = createChecker({ flags, cohorts }, target, targetRules, {
    flagId: sourceId => existingIds.flag.get(sourceId),
    cohortId: sourceId => existingIds.segment.get(sourceId),
    flag: id => {
      const flag = current.flag(id)
      return flag && flagDefinition(flag)
    },
    cohort: id => current.cohort(id),
  })
  const slice = new TimeSlice()
  const checked = stepsOf(report, name, flags.length, 'checked')
  const requireNone = (issue: ImportReason | undefined) => {
    if (issue) throw invalid('filters', 'invalid_input', `${issue.path}: ${issue.message} Nothing was imported.`)
  }
  for (const cohort of cohorts) {
    await slice.next()
    requireNone(check.cohort(cohort))
  }
  for (const [index, flag] of flags.entries()) {
    await slice.next()
    requireNone(check.flag(flag))
    checked(index + 1)
  }
}

export function flagOf({ definition }: PlannedItem): ImportedFlag {
  if (!definition || !('flag' in definition)) throw new Error('The item is not a flag.')
  return definition.flag
}

export function cohortOf({ definition }: PlannedItem): ImportedCohort {
  if (!definition || !('cohort' in definition)) throw new Error('The item is not a segment.')
  return definition.cohort
}

/** By the length of the longest chain of items that each depends on. */
function batchesOf(
  items: readonly PreparedItem[],
  usedBy: (item: PreparedItem) => readonly string[],
): readonly (readonly PreparedItem[])[] {
  const depths = new Map<string, number>()
  const batches: PreparedItem[][] = []
  for (const item of items) {
    const depth = 1 + Math.max(-1, ...usedBy(item).map(id => depths.get(id) ?? -1))
    depths.set(item.sourceId, depth)
    const batch = batches[depth]
    if (batch) batch.push(item)
    else batches[depth] = [item]
  }
  return batches
}
