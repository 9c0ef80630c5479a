import {
  type CohortDefinition,
  checkCohort,
  checkFlag,
  type Definitions,
  type EngineOptions,
  type FlagDefinition,
  usesOf as idsUsedBy,
  remapFilters,
} from '@halyard/engine'
import {
  type ImportedCohort,
  type ImportedFlag,
  type ImportedProject,
  type ImportItem,
  type ImportReason,
  sourceIdOf,
  type TargetProject,
} from '../model/model.ts'
import { refuseDependents } from '../model/refuse-dependents.ts'

/** What the importing server accepts beside the rules of the engine. */
export interface TargetRules extends Pick<EngineOptions, 'regex'> {
  readonly flagKeyCharactersMax: number
  readonly cohortNameCharactersMax: number
  readonly filtersBytesMax: number
  /** Why a payload schema cannot be that of a flag with these filters, as a sentence. */
  schemaIssue(schema: Readonly<Record<string, unknown>>, filters: Readonly<Record<string, unknown>>): string | undefined
}

/** Awaited after each flag and cohort, so that the caller can yield to the event loop. */
export type OnChecked = (checked: number) => unknown

/** Refuses what could not be saved here: the engine checks every flag and cohort with what it refers to, group types included. */
export async function checkImported(
  imported: ImportedProject,
  project: TargetProject,
  rules: TargetRules,
  onChecked: OnChecked = () => {},
): Promise<ImportedProject> {
  const check = createChecker(imported, project, rules)
  const refused = new Map<string, ImportReason>()
  let count = 0
  for (const cohort of imported.cohorts) {
    const reason = check.cohort(cohort)
    if (reason) refused.set(`segment ${cohort.sourceId}`, reason)
    await onChecked(++count)
  }
  for (const flag of imported.flags) {
    const reason = check.flag(flag)
    if (reason) refused.set(`flag ${flag.sourceId}`, reason)
    await onChecked(++count)
  }
  if (refused.size === 0) return imported
  const items = imported.items.map((item): ImportItem => {
    const reason = refused.get(`${item.kind} ${item.sourceId}`)
    return reason ? { ...item, status: 'refused', reasons: [...item.reasons, reason] } : item
  })
  return refuseDependents({
    ...imported,
    flags: imported.flags.filter(({ sourceId }) => !refused.has(`flag ${sourceId}`)),
    cohorts: imported.cohorts.filter(({ sourceId }) => !refused.has(`segment ${sourceId}`)),
    items,
  })
}

/** What is stored already and is not written by the import. */
export interface ExistingDefinitions {
  /** Ids of what the import does not create. */
  flagId(sourceId: string): number | undefined
  cohortId(sourceId: string): number | undefined
  flag(id: number): FlagDefinition | undefined
  cohort(id: number): CohortDefinition | undefined
}

const nothingExists: ExistingDefinitions = {
  flagId: () => undefined,
  cohortId: () => undefined,
  flag: () => undefined,
  cohort: () => undefined,
}

/** No stored id is as large. */
const provisionalIdMin = 2 ** 40

export interface ImportChecker {
  flag(flag: ImportedFlag): ImportReason | undefined
  cohort(cohort: ImportedCohort): ImportReason | undefined
}

/** Gives flags and cohorts that have no id the one that the engine needs, for as long as they are checked. */
export function createChecker(
  { flags, cohorts }: Pick<ImportedProject, 'flags' | 'cohorts'>,
  project: TargetProject,
  { flagKeyCharactersMax, cohortNameCharactersMax, filtersBytesMax, schemaIssue, regex }: TargetRules,
  existing: ExistingDefinitions = nothingExists,
): ImportChecker {
  const flagIds = new Map(
    flags.map(({ sourceId }, index) => [sourceId, existing.flagId(sourceId) ?? provisionalIdMin + index]),
  )
  const cohortIds = new Map(
    cohorts.map(({ sourceId }, index) => [sourceId, existing.cohortId(sourceId) ?? provisionalIdMin + index]),
  )
  const flagsById = new Map(flags.map(flag => [flagIds.get(flag.sourceId)!, flag]))
  const cohortsById = new Map(cohorts.map(cohort => [cohortIds.get(cohort.sourceId)!, cohort]))
  const groupTypes = new Map(Object.entries(project.groupTypes).map(([index, name]) => [name, Number(index)]))
  const keys = new Set<string>()
  /** Flags of the file without issues: what they depend on needs no further look, or long chains would take quadratic time. */
  const accepted = new Set<number>()

  const idIn = (ids: ReadonlyMap<string, number>, stored: (sourceId: string) => number | undefined) => (id: string) => {
    const sourceId = sourceIdOf(id)
    return sourceId === undefined ? undefined : (ids.get(sourceId) ?? stored(sourceId))
  }
  const resolve = <T>(filters: T): T =>
    remapFilters(filters, {
      cohort: idIn(cohortIds, existing.cohortId),
      flag: idIn(flagIds, existing.flagId),
      groupType: index => groupTypes.get(sourceIdOf(index) ?? ''),
    })
  const flagDefinition = (id: number): FlagDefinition | undefined => {
    const flag = flagsById.get(id)
    return flag
      ? {
          id,
          key: flag.key,
          active: flag.active,
          filters: resolve(flag.filters),
          ensureExperienceContinuity: flag.ensureExperienceContinuity ?? false,
          bucketingIdentifier: flag.bucketingIdentifier ?? null,
        }
      : existing.flag(id)
  }
  const cohortDefinition = (id: number): CohortDefinition | undefined => {
    const cohort = cohortsById.get(id)
    return cohort
      ? {
          id,
          name: cohort.name,
          isStatic: 'ids' in cohort.content,
          filters: 'ids' in cohort.content ? {} : resolve(cohort.content.filters),
        }
      : existing.cohort(id)
  }

  /** What the filters refer to, transitively. */
  function definitionsFor(filters: unknown): Definitions {
    const seenFlags = new Map<number, FlagDefinition | undefined>()
    const seenCohorts = new Map<number, CohortDefinition | undefined>()
    const open = [filters]
    while (open.length > 0) {
      const uses = idsUsedBy(open.pop())
      for (const id of uses.flags) {
        if (seenFlags.has(id)) continue
        const flag = flagDefinition(id)
        seenFlags.set(id, flag)
        if (flag && !accepted.has(id)) open.push(flag.filters)
      }
      for (const id of uses.cohorts) {
        if (seenCohorts.has(id)) continue
        const cohort = cohortDefinition(id)
        seenCohorts.set(id, cohort)
        if (cohort) open.push(cohort.filters)
      }
    }
    return {
      flags: [...seenFlags.values()].filter(flag => flag !== undefined),
      cohorts: [...seenCohorts.values()].filter(cohort => cohort !== undefined),
      groupTypes: project.groupTypes,
      propertyMatchingVersion: project.propertyMatchingVersion,
    }
  }

  return {
    flag(flag) {
      const path = flag.sourceId
      if (flag.key === '' || flag.key.length > flagKeyCharactersMax) {
        return { message: `Keys can have at most ${flagKeyCharactersMax} characters; rename it at the source.`, path }
      }
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
      if (/[\u0000-\u001f\u007f-\u009f]/.test(flag.key)) {
        return { message: 'The key contains control characters; rename it at the source.', path }
      }
      if (keys.has(flag.key))
        return { message: `Another flag of the file has the key "${flag.key}"; rename one.`, path }
      keys.add(flag.key)
      if (JSON.stringify(flag.filters).length > filtersBytesMax) {
        return {
          message: `The conditions and payloads have more than ${filtersBytesMax} bytes; move lists into segments.`,
          path,
        }
      }
      const id = flagIds.get(flag.sourceId)!
      const definition = flagDefinition(id)!
      const [issue] = checkFlag(definition, definitionsFor(definition.filters), { regex })
      if (issue) return { message: issue.message, path: `${path}: ${issue.path}` }
      accepted.add(id)
      const mismatch =
        flag.payloadSchema && schemaIssue(flag.payloadSchema, definition.filters as Readonly<Record<string, unknown>>)
      return mismatch ? { message: mismatch, path: `${path}: payload_schema` } : undefined
    },
    cohort(cohort) {
      const path = cohort.sourceId
      if (cohort.name.length > cohortNameCharactersMax) {
        return { message: `Names of cohorts can have at most ${cohortNameCharactersMax} characters; shorten it.`, path }
      }
      if ('ids' in cohort.content) return undefined
      const definition = cohortDefinition(cohortIds.get(cohort.sourceId)!)!
      const [issue] = checkCohort(definition, definitionsFor(definition.filters), { regex })
      return issue && { message: issue.message, path: `${path}: ${issue.path}` }
    },
  }
}
