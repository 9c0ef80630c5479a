import { cohortNameCharactersMax, flagKeyCharactersMax } from '@halyard/contract'
import { type CohortDefinition, checkCohort, checkFlag, type Definitions, type FlagDefinition } from '@halyard/engine'
import {
  type ImportedCohort,
  type ImportedFlag,
  type ImportedProject,
  type ImportItem,
  type ImportReason,
  sourceIdOf,
} from '@halyard/importers/model'
import { refuseDependents, usesOf, usesOfCohort } from '@halyard/importers/refuse-dependents'
import { TimeSlice } from '../../concurrency/time-slice.ts'
import { linearRegex } from '../../evaluation/linear-regex.ts'
import { remapFilters } from '../../remap-filters.ts'
import type { Project } from '../../tenancy.ts'

const options = { regex: linearRegex }

/** Refuses what could not be saved here: the engine checks every flag and cohort with what it refers to. */
export async function checkImported(imported: ImportedProject, project: Project): Promise<ImportedProject> {
  const check = createChecker(imported, project)
  const refused = new Map<string, ImportReason>()
  const slice = new TimeSlice()
  for (const cohort of imported.cohorts) {
    await slice.next()
    const reason = check.cohort(cohort)
    if (reason) refused.set(`segment ${cohort.sourceId}`, reason)
  }
  for (const flag of imported.flags) {
    await slice.next()
    const reason = check.flag(flag)
    if (reason) refused.set(`flag ${flag.sourceId}`, reason)
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

/** Gives flags and cohorts the ids that the engine needs, for as long as they are checked. */
function createChecker({ flags, cohorts }: ImportedProject, project: Project) {
  const flagIds = new Map(flags.map(({ sourceId }, index) => [sourceId, index + 1]))
  const cohortIds = new Map(cohorts.map(({ sourceId }, index) => [sourceId, index + 1]))
  const flagsById = new Map(flags.map(flag => [flag.sourceId, flag]))
  const cohortsById = new Map(cohorts.map(cohort => [cohort.sourceId, cohort]))
  const keys = new Set<string>()

  const resolve = <T>(filters: T): T =>
    remapFilters(filters, {
      cohort: id => cohortIds.get(sourceIdOf(id) ?? ''),
      flag: id => flagIds.get(sourceIdOf(id) ?? ''),
      groupType: () => undefined,
    })
  const flagDefinition = (flag: ImportedFlag): FlagDefinition => ({
    id: flagIds.get(flag.sourceId)!,
    key: flag.key,
    active: flag.active,
    filters: resolve(flag.filters),
    ensureExperienceContinuity: flag.ensureExperienceContinuity ?? false,
    bucketingIdentifier: flag.bucketingIdentifier ?? null,
  })
  const cohortDefinition = (cohort: ImportedCohort): CohortDefinition => ({
    id: cohortIds.get(cohort.sourceId)!,
    name: cohort.name,
    isStatic: 'ids' in cohort.content,
    filters: 'ids' in cohort.content ? {} : resolve(cohort.content.filters),
  })

  /** What these refer to, transitively. */
  function definitionsFor(usedFlags: readonly string[], usedCohorts: readonly string[]): Definitions {
    const seenFlags = new Map<string, FlagDefinition>()
    const seenCohorts = new Map<string, CohortDefinition>()
    const openFlags = [...usedFlags]
    const openCohorts = [...usedCohorts]
    for (let id = openFlags.pop(); id !== undefined; id = openFlags.pop()) {
      const flag = flagsById.get(id)
      if (!flag || seenFlags.has(id)) continue
      seenFlags.set(id, flagDefinition(flag))
      openFlags.push(...usesOf(flag).flags)
      openCohorts.push(...usesOf(flag).cohorts)
    }
    for (let id = openCohorts.pop(); id !== undefined; id = openCohorts.pop()) {
      const cohort = cohortsById.get(id)
      if (!cohort || seenCohorts.has(id)) continue
      seenCohorts.set(id, cohortDefinition(cohort))
      openCohorts.push(...usesOfCohort(cohort).cohorts)
    }
    return {
      flags: [...seenFlags.values()],
      cohorts: [...seenCohorts.values()],
      groupTypes: project.groupTypes,
      propertyMatchingVersion: project.propertyMatchingVersion,
    }
  }

  return {
    flag(flag: ImportedFlag): ImportReason | undefined {
      const path = flag.sourceId
      if (flag.key === '' || flag.key.length > flagKeyCharactersMax) {
        return { message: `Keys can have at most ${flagKeyCharactersMax} characters.`, path }
      }
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
      if (/[\u0000-\u001f\u007f-\u009f]/.test(flag.key)) {
        return { message: 'The key contains control characters.', path }
      }
      if (keys.has(flag.key)) return { message: `Another flag of the file has the key "${flag.key}".`, path }
      keys.add(flag.key)
      const { flags: others, cohorts: used } = usesOf(flag)
      const [issue] = checkFlag(flagDefinition(flag), definitionsFor(others, used), options)
      return issue && { message: issue.message, path: `${path}: ${issue.path}` }
    },
    cohort(cohort: ImportedCohort): ImportReason | undefined {
      const path = cohort.sourceId
      if (cohort.name.length > cohortNameCharactersMax) {
        return { message: `Names of cohorts can have at most ${cohortNameCharactersMax} characters.`, path }
      }
      if ('ids' in cohort.content) return undefined
      const used = definitionsFor([], usesOfCohort(cohort).cohorts)
      const [issue] = checkCohort(cohortDefinition(cohort), used, options)
      return issue && { message: issue.message, path: `${path}: ${issue.path}` }
    },
  }
}
