import { importItemsMax } from '@halyard/contract'
import type { ImportedProject, ImportItem, ImportOptions, ImportSource, TargetProject } from '@halyard/migrate/model'
import { groupTypesUsedBy } from '@halyard/migrate/model/group-types'
import type { Definition } from '@halyard/migrate/plan/drift'
import { TimeSlice } from '../../concurrency/time-slice.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { Database } from '../../stores.ts'
import type { Actor, Organization, Project } from '../../tenancy.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { convertFile } from './convert-file.ts'
import { type CurrentState, emptyState, readCurrentState } from './current-state.ts'
import type { ImportPlan, PlannedItem } from './import-plan.ts'
import { convertInThread } from './thread/convert-in-thread.ts'

/** Plans of one organization; the oldest makes way. */
const plansMax = 20
const planMilliseconds = 24 * 60 * 60 * 1000

export interface NewImport {
  readonly source: ImportSource
  readonly targets: readonly NewTarget[]
  /** The name of the environment set to create, with a project for each target. */
  readonly newEnvironmentSet: string | null
  readonly options: ImportOptions
  /** Size of the files. */
  readonly bytes: number
}

/** Starting a thread takes longer than converting a smaller file. */
const bytesInThreadMin = 32 * 1024

export interface NewTarget {
  /** Null for one that is created with the environment set. */
  readonly project: Project | null
  /** Parsed. */
  readonly document: unknown
  /** In the document. */
  readonly environment: string | null
  /** In the environment set. */
  readonly name: string | null
}

/** A project that the import will create. */
export const newProject = (name: string): Pick<Project, 'name'> & TargetProject & { readonly id: null } => ({
  id: null,
  name,
  groupTypes: {},
  propertyMatchingVersion: 2,
})

/** Converts the file for each target and stores what applying it would do. Raises `invalid` with the place in the file. */
export async function planImport(
  database: Database,
  actor: Actor,
  organization: Organization,
  { source, targets, newEnvironmentSet, options, bytes }: NewImport,
  now: Instant,
  report: (step: string) => void = () => {},
): Promise<ImportPlan> {
  const converted: { target: ImportPlan['targets'][number]; projectId: number | null; imported: ImportedProject }[] = []
  let count = 0
  for (const { project: existing, document, environment, name } of targets) {
    const project = existing ?? newProject(name ?? '')
    const named = { ...options, ...(environment !== null && { environment }) }
    const onConverted = (total: number) => stepsOf(report, project.name, total, 'checked')
    const convert = bytes < bytesInThreadMin ? convertFile : convertInThread
    const imported = await convert({ source, document, options: named, project }, onConverted)
    count += imported.items.length
    if (count > importItemsMax) {
      throw invalid('content', 'max_length', `The file has more than ${importItemsMax} flags and segments; split it.`)
    }
    const existingTypes = Object.values(project.groupTypes)
    const target = {
      projectId: project.id,
      environment: imported.environment,
      name,
      newGroupTypes: groupTypesUsedBy(imported).filter(type => !existingTypes.includes(type)),
      archived: imported.archived ?? 0,
    }
    converted.push({ target, projectId: project.id, imported })
  }
  const items: PlannedItem[] = []
  const slice = new TimeSlice()
  for (const [target, { projectId, imported }] of converted.entries()) {
    const current =
      projectId === null ? emptyState() : await database.read(tx => readCurrentState(tx, projectId, source))
    for (const ordered of inOrder(imported)) {
      await slice.next()
      const { item, definition } = withServedType(ordered, current)
      const drift = definition ? current.drift(definition) : 'new'
      items.push({ ...item, position: items.length, target, projectId, drift, definition, outcome: null })
    }
  }
  return database.transaction(
    async tx => {
      await tx.imports.removeExpired(now)
      const older = await tx.imports.listPlans(organization.id, now)
      for (const { id } of older.slice(plansMax - 1)) await tx.imports.removePlan(id)
      const plan = {
        organizationId: organization.id,
        source,
        targets: converted.map(({ target }) => target),
        newEnvironmentSet,
        createdBy: actor.user,
        createdAt: now,
        expiresAt: plusMilliseconds(now, planMilliseconds),
        appliedAt: null,
      }
      const created = await tx.imports.createPlan(plan, items)
      const after = { source, items: items.length }
      const record = { scope: 'ImportPlan', itemId: created.id, name: source, activity: 'created', after } as const
      recordAudit(tx, actor, { organizationId: organization.id }, record, now)
      return created
    },
    { isLarge: true },
  )
}

/** How often progress is reported. */
const itemsPerStep = 250

/** Reports `Web: 250 of 600 checked`, with the count at hand. */
export function stepsOf(report: (step: string) => void, name: string, total: number, done: string) {
  let reported = 0
  const step = (count: number) => report(`${name}: ${count} of ${total} ${done}`)
  step(0)
  return (count: number): void => {
    if (count < total && count - reported < itemsPerStep) return
    reported = count
    step(count)
  }
}

interface Ordered {
  readonly item: ImportItem
  readonly definition: Definition | null
}

/** Importing again changes no value that clients of OpenFeature get. */
function withServedType(ordered: Ordered, current: CurrentState): Ordered {
  const { item, definition } = ordered
  if (definition === null || !('flag' in definition) || !current.lacksType(definition)) return ordered
  const { return_type: type, ...filters } = definition.flag.filters
  const message = `It was imported without a type: for OpenFeature to get its payloads, set \`return_type\` to ${type}.`
  return {
    item: { ...item, reasons: [...item.reasons, { message, path: item.sourceKey }] },
    definition: { flag: { ...definition.flag, filters } },
  }
}

/** Cohorts, then flags, each after those it depends on; refused items last. */
function inOrder({ items, cohorts, flags }: ImportedProject): Ordered[] {
  const byId = new Map(items.map(item => [`${item.kind} ${item.sourceId}`, item]))
  // Some cohorts join several segments and are no item of the file.
  const joined = (sourceId: string, sourceKey: string): ImportItem => ({
    kind: 'segment',
    sourceId,
    sourceKey,
    status: 'exact',
    reasons: [],
  })
  return [
    ...cohorts.map(cohort => ({
      item: byId.get(`segment ${cohort.sourceId}`) ?? joined(cohort.sourceId, cohort.name),
      definition: { cohort },
    })),
    ...flags.map(flag => ({ item: byId.get(`flag ${flag.sourceId}`)!, definition: { flag } })),
    ...items.filter(({ status }) => status === 'refused').map(item => ({ item, definition: null })),
  ]
}
