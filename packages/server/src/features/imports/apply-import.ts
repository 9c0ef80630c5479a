import { cohortDescriptionCharactersMax } from '@halyard/contract'
import { type ImportedCohort, type ImportedFlag, sourceIdOf } from '@halyard/importers/model'
import { usesOf, usesOfCohort } from '@halyard/importers/refuse-dependents'
import type { Instant } from '../../instant.ts'
import { forbidden, missing, Problem } from '../../problem.ts'
import { remapFilters } from '../../remap-filters.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, hasAnyScope, type Organization, type Project } from '../../tenancy.ts'
import { canEditFlag, type FlagGrants } from '../access/access.ts'
import { grantsFor } from '../access/grants.ts'
import { ApprovalRequired } from '../approvals/authorize-write.ts'
import type { Permit } from '../approvals/permit.ts'
import { createCohort } from '../cohorts/create-cohort.ts'
import { namedPeople } from '../cohorts/members/members.ts'
import { updateCohort } from '../cohorts/update-cohort.ts'
import { findProject } from '../flag-copies/copy-flag.ts'
import { createFlag } from '../flags/create-flag.ts'
import type { FlagPatch, FreeObject } from '../flags/flag.ts'
import { updateFlag } from '../flags/update-flag.ts'
import { type CurrentState, readCurrentState } from './current-state.ts'
import {
  cohortHash,
  flagHash,
  type ImportLink,
  type ImportPlan,
  type Outcome,
  type PlannedItem,
  sourceHashOf,
} from './import-plan.ts'

export interface ApplyOptions {
  readonly onlyExact: boolean
  /** Also what was changed or created here. */
  readonly overwrite: boolean
}

interface ImportContext {
  readonly tx: Stores
  readonly actor: Actor
  readonly grants: FlagGrants
  readonly project: Project
  readonly plan: ImportPlan
  readonly current: CurrentState
  readonly now: Instant
  readonly permit: Permit
  /** By source id: what references become. */
  readonly flagIds: Map<string, number>
  readonly cohortIds: Map<string, number>
  readonly links: ImportLink[]
}

/** How often progress is reported. */
const itemsPerStep = 250

/**
 * Imports into one project; the caller's transaction makes it all or nothing. Raises `conflict` when something has changed
 * since the plan, and `approval_required` when the project needs approval.
 */
export async function applyImport(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  { plan, projectId }: { readonly plan: ImportPlan; readonly projectId: number },
  options: ApplyOptions,
  { now, permit, report }: { readonly now: Instant; readonly permit: Permit; readonly report: (step: string) => void },
): Promise<void> {
  const project = await findProject(tx, actor, organization, projectId)
  if (!project) throw missing('Project')
  const items = await tx.imports.readItems(plan.id, projectId)
  const current = await readCurrentState(tx, projectId, plan.source)
  if (items.some(({ definition, drift }) => definition !== null && current.drift(definition) !== drift)) {
    throw new Problem('conflict', 'Something has changed since the plan; nothing was imported. Plan again.', {
      code: 'plan_is_stale',
    })
  }
  const grants = await grantsFor(tx, actor, project)
  const links: ImportLink[] = []
  const ids = { flagIds: new Map<string, number>(), cohortIds: new Map<string, number>() }
  const context: ImportContext = { tx, actor, grants, project, plan, current, now, permit, links, ...ids }
  const outcomes = new Map<number, Outcome>()
  for (const [index, item] of items.entries()) {
    if (index % itemsPerStep === 0) report(`${project.name}: ${index} of ${items.length}`)
    outcomes.set(item.position, await applyItem(item, options, context))
  }
  await tx.imports.saveLinks(projectId, plan.source, links, now)
  await tx.imports.saveOutcomes(plan.id, outcomes)
  await tx.imports.setApplied(plan.id, now)
  report(`${project.name}: ${items.length} of ${items.length}`)
}

async function applyItem(item: PlannedItem, options: ApplyOptions, context: ImportContext): Promise<Outcome> {
  const { definition, drift } = item
  if (definition === null) return 'skipped'
  const existing = existingId(item, context)
  if (existing !== undefined) idsOf(item, context).set(item.sourceId, existing)
  if (options.onlyExact && item.status !== 'exact') return 'skipped'
  if (drift === 'unchanged') return 'unchanged'
  if (drift !== 'new' && drift !== 'changed_at_source' && !options.overwrite) return 'skipped'
  return 'flag' in definition
    ? applyFlag(definition.flag, item, context)
    : applyCohort(definition.cohort, item, context)
}

const idsOf = ({ kind }: PlannedItem, { flagIds, cohortIds }: ImportContext): Map<string, number> =>
  kind === 'flag' ? flagIds : cohortIds

/** What was imported before, or has the same key. */
function existingId({ kind, sourceId, definition }: PlannedItem, { current }: ImportContext): number | undefined {
  const link = current.linkOf(kind, sourceId)
  if (kind === 'segment') return current.cohort(link?.cohortId)?.id
  const key = definition !== null && 'flag' in definition ? definition.flag.key : ''
  return (current.flag(link?.flagId) ?? current.flagByKey(key))?.id
}

async function applyFlag(flag: ImportedFlag, item: PlannedItem, context: ImportContext): Promise<Outcome> {
  const { tx, actor, grants, project, plan, current, now, permit, flagIds, cohortIds, links } = context
  const uses = usesOf(flag)
  // What it depends on may have been left out on request.
  if (!uses.flags.every(id => flagIds.has(id)) || !uses.cohorts.every(id => cohortIds.has(id))) return 'skipped'
  const sourceHash = sourceHashOf({ flag })
  const patch: FlagPatch & { key: string } = {
    key: flag.key,
    name: flag.name.slice(0, 10_000),
    filters: resolve(flag.filters, context) as FreeObject,
    active: flag.active && !flag.archived,
    tags: flag.tags,
    archived: flag.archived,
    ensureExperienceContinuity: flag.ensureExperienceContinuity ?? false,
    bucketingIdentifier: flag.bucketingIdentifier ?? null,
  }
  const trigger = { imported_from: plan.source, source_id: flag.sourceId }
  const filtersFrom = `${plan.source} ${flag.sourceId} ${sourceHash}`
  const stored = current.flag(flagIds.get(flag.sourceId))
  if (stored && !canEditFlag(grants, stored))
    throw forbidden(`You cannot edit the flag "${stored.key}" in ${project.name}.`)
  const saved = await gated(flag.key, project, () =>
    stored
      ? updateFlag(tx, actor, project, { stored, patch, trigger, filtersFrom }, now, permit)
      : createFlag(tx, actor, project, { patch, trigger, filtersFrom }, now, permit),
  )
  flagIds.set(flag.sourceId, saved.id)
  const link = { kind: item.kind, sourceId: flag.sourceId, flagId: saved.id, cohortId: null }
  links.push({ ...link, sourceHash, targetHash: flagHash(saved) })
  return stored ? 'updated' : 'created'
}

async function applyCohort(cohort: ImportedCohort, item: PlannedItem, context: ImportContext): Promise<Outcome> {
  const { tx, actor, project, current, now, permit, cohortIds, links } = context
  if (!hasAnyScope(actor.key, ['cohort:write'])) {
    throw forbidden('The file has segments: this key also needs the scope cohort:write.')
  }
  if (!usesOfCohort(cohort).cohorts.every(id => cohortIds.has(id))) return 'skipped'
  const isStatic = 'ids' in cohort.content
  const people = namedPeople('ids' in cohort.content ? cohort.content.ids : [])
  const patch = {
    name: cohort.name,
    description: (cohort.description ?? '').slice(0, cohortDescriptionCharactersMax),
    filters: 'filters' in cohort.content ? (resolve(cohort.content.filters, context) as unknown as FreeObject) : {},
    deleted: false,
  }
  const stored = current.cohort(cohortIds.get(cohort.sourceId))
  // A cohort cannot change its kind, so another one takes its place.
  const isSameKind = stored?.isStatic === isStatic
  const { cohort: saved } = await gated(cohort.name, project, () =>
    stored && isSameKind
      ? updateCohort(tx, actor, project, { cohortId: stored.id, patch, people }, now, permit)
      : createCohort(tx, actor, project, { content: patch, isStatic, people }, now),
  )
  cohortIds.set(cohort.sourceId, saved.id)
  const link = { kind: item.kind, sourceId: cohort.sourceId, flagId: null, cohortId: saved.id }
  links.push({ ...link, sourceHash: sourceHashOf({ cohort }), targetHash: cohortHash(saved) })
  return stored && isSameKind ? 'updated' : 'created'
}

const resolve = <T>(filters: T, { flagIds, cohortIds }: ImportContext): T =>
  remapFilters(filters, {
    cohort: id => cohortIds.get(sourceIdOf(id) ?? ''),
    flag: id => flagIds.get(sourceIdOf(id) ?? ''),
    groupType: () => undefined,
  })

/** No change requests are opened: cohorts that come along do not exist yet, so nothing could refer to them. */
async function gated<T>(name: string, project: Project, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!(error instanceof ApprovalRequired)) throw error
    throw new Problem(
      'approval_required',
      `Changes of "${name}" need approval in ${project.name}; nothing was imported there. Import into another environment and promote.`,
      { extra: { change_request: null } },
    )
  }
}
