import { importItemsMax } from '@halyard/contract'
import { convertersBySource, environmentsBySource } from '@halyard/importers/converters'
import { parseJson } from '@halyard/importers/document'
import {
  type ImportedProject,
  ImportFileError,
  type ImportItem,
  type ImportOptions,
  type ImportSource,
} from '@halyard/importers/model'
import { TimeSlice } from '../../concurrency/time-slice.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import { invalid, Problem } from '../../problem.ts'
import type { Database } from '../../stores.ts'
import type { Actor, Organization, Project } from '../../tenancy.ts'
import { checkImported } from './check-imported.ts'
import { emptyState, readCurrentState } from './current-state.ts'
import type { Definition, ImportPlan, PlannedItem } from './import-plan.ts'

/** Plans of one organization; the oldest makes way. */
const plansMax = 20
const planMilliseconds = 24 * 60 * 60 * 1000

export interface NewImport {
  readonly source: ImportSource
  readonly targets: readonly NewTarget[]
  /** The name of the environment set to create, with a project for each target. */
  readonly newEnvironmentSet: string | null
  readonly options: ImportOptions
}

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

/** As far as an import depends on it. */
export interface TargetProject extends Pick<Project, 'name' | 'groupTypes' | 'propertyMatchingVersion'> {
  readonly id: number | null
}

/** A project that the import will create. */
export const newProject = (name: string): TargetProject => ({
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
  { source, targets, newEnvironmentSet, options }: NewImport,
  now: Instant,
  report: (step: string) => void = () => {},
): Promise<ImportPlan> {
  const converted: { target: ImportPlan['targets'][number]; project: TargetProject; imported: ImportedProject }[] = []
  let count = 0
  for (const { project: existing, document, environment, name } of targets) {
    const project = existing ?? newProject(name ?? '')
    const named = { ...options, ...(environment !== null && { environment }) }
    const imported = convert(source, document, named, project)
    count += imported.items.length
    if (count > importItemsMax) {
      throw invalid('content', 'max_length', `The file has more than ${importItemsMax} flags and segments; split it.`)
    }
    const checked = stepsOf(report, project.name, imported.flags.length + imported.cohorts.length, 'checked')
    converted.push({
      target: { projectId: project.id, environment: imported.environment, name },
      project,
      imported: await checkImported(imported, project, checked),
    })
  }
  const items: PlannedItem[] = []
  const slice = new TimeSlice()
  for (const [target, { project, imported }] of converted.entries()) {
    const { id: projectId } = project
    const current =
      projectId === null ? emptyState() : await database.read(tx => readCurrentState(tx, projectId, source))
    for (const { item, definition } of inOrder(imported)) {
      await slice.next()
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
      return tx.imports.createPlan(plan, items)
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

/** The text of a file, or the JSON in it. Raises `invalid`. */
export const readContent = (content: unknown): unknown =>
  typeof content === 'string' ? inFile(() => parseJson(content)) : content

/** The names of the environments in a file; empty when its format has none. Raises `invalid`. */
export function environmentsIn(source: ImportSource, document: unknown): readonly string[] {
  return inFile(() => environmentsBySource[source]?.(document) ?? [])
}

function convert(
  source: ImportSource,
  document: unknown,
  options: ImportOptions,
  project: TargetProject,
): ImportedProject {
  const names = environmentsIn(source, document)
  if (options.environment === undefined && names.length > 1) {
    throw new Problem('invalid', `The file has several environments; choose one: ${names.join(', ')}.`, {
      field: 'mapping',
      code: 'environment_required',
      extra: { environments: names },
    })
  }
  const converter = convertersBySource[source]
  if (!converter) throw invalid('source', 'invalid_choice', `Files of ${source} cannot be imported yet.`)
  const groupTypes = Object.fromEntries(
    Object.entries(project.groupTypes).map(([index, name]) => [name, Number(index)]),
  )
  return inFile(() => converter(document, { ...options, groupTypes }))
}

function inFile<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ImportFileError)) throw error
    const place = error.path === '' ? '' : ` (${error.path})`
    throw new Problem('invalid', `${error.message}${place}`, {
      field: 'content',
      code: 'invalid_file',
      extra: { path: error.path },
    })
  }
}

interface Ordered {
  readonly item: ImportItem
  readonly definition: Definition | null
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
