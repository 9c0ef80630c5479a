import { type Converter, type ImportedCohort, type ImportedFlag, type ImportItem, inCohort } from '../model.ts'
import { refuseDependents } from '../refuse-dependents.ts'
import { judge } from '../verdict.ts'
import { convertFlag } from './convert-flag.ts'
import { anyOfSegments, convertSegment } from './convert-segment.ts'
import { readDocument, type SourceSegment } from './read-document.ts'

export const convertLaunchDarkly: Converter = (document, options) => {
  const { environment, flags: sourceFlags, segments } = readDocument(document, options.environment)
  const groupType = (kind: string) => options.groupTypes?.[kind]
  const flagsByKey = new Map(sourceFlags.map(flag => [flag.key, flag]))
  const segmentsByKey = new Map(segments.map(segment => [segment.key, segment]))
  const cohorts = new Map<string, ImportedCohort>()
  const items = new Map<string, ImportItem>()
  const open = new Set<string>()

  /** Converts a segment when it is first needed, so that those it refers to come before it. */
  function cohort(segment: SourceSegment): ImportedCohort | undefined {
    if (items.has(segment.key)) return cohorts.get(segment.key)
    if (open.has(segment.key)) return undefined
    open.add(segment.key)
    const { item, result } = judge({ kind: 'segment', sourceKey: segment.key, sourceId: segment.key }, verdict =>
      convertSegment(segment, { verdict, cohortOf, groupType }),
    )
    open.delete(segment.key)
    items.set(segment.key, item)
    if (result) cohorts.set(segment.key, result)
    return result
  }

  function cohortOf(keys: readonly string[]): string | undefined {
    const members = keys.map(key => {
      const segment = segmentsByKey.get(key)
      return segment && cohort(segment)
    })
    if (!members.every(member => member !== undefined)) return undefined
    if (members.length === 1) return members[0]!.sourceId
    const sourceId = `any:${[...keys].sort().join('|')}`
    cohorts.set(sourceId, anyOfSegments(sourceId, members, inCohort))
    return sourceId
  }

  for (const segment of segments) cohort(segment)
  const flags: ImportedFlag[] = []
  const flagItems: ImportItem[] = []
  for (const flag of sourceFlags) {
    if (flag.archived && !options.includeArchived) continue
    const { item, result } = judge({ kind: 'flag', sourceKey: flag.key, sourceId: flag.key }, verdict =>
      convertFlag(flag, { verdict, cohortOf, groupType, flag: key => flagsByKey.get(key) }),
    )
    flagItems.push(item)
    if (result) flags.push(result)
  }
  const segmentItems = segments.map(({ key }) => items.get(key)!)
  return refuseDependents({
    source: 'launchdarkly',
    environment,
    flags,
    cohorts: [...cohorts.values()],
    items: [...segmentItems, ...flagItems],
  })
}
