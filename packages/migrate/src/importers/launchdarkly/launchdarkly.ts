import {
  type Converter,
  type ImportedCohort,
  type ImportedFlag,
  type ImportItem,
  type ImportOptions,
  inCohort,
} from '../../model/model.ts'
import { refuseDependents } from '../../model/refuse-dependents.ts'
import { cohortTreeOf, type Expression, filter } from '../expression.ts'
import { GroupTypes } from '../group-types.ts'
import { judge, type Verdict } from '../verdict.ts'
import { convertFlag } from './convert-flag.ts'
import { anyOfSegments, fitsCohort, membersOf } from './convert-segment.ts'
import { readDocument, type SourceSegment } from './read-document.ts'

export const convertLaunchDarkly: Converter = (document, options) => {
  const { environment, flags: sourceFlags, segments: sourceSegments } = readDocument(document, options.environment)
  const groupTypes = new GroupTypes(options.groupTypes)
  const segments = new Segments(sourceSegments)
  const flagsByKey = new Map(sourceFlags.map(flag => [flag.key, flag]))
  const flags: ImportedFlag[] = []
  const items: ImportItem[] = []
  const wanted = sourceFlags.filter(({ archived }) => isWanted(archived, options))
  for (const flag of wanted) {
    const { item, result } = judge({ kind: 'flag', sourceKey: flag.key, sourceId: flag.key }, verdict => {
      const converted = convertFlag(flag, {
        verdict,
        inSegments: (keys, path) => segments.anyOf(keys, path, verdict),
        flag: key => flagsByKey.get(key),
      })
      groupTypes.claim(converted.filters, flag.statePath, verdict)
      return converted
    })
    items.push(item)
    if (result) flags.push(result)
  }
  return refuseDependents({
    source: 'launchdarkly',
    environment,
    flags,
    cohorts: segments.cohorts,
    archived: sourceFlags.length - wanted.length,
    items: [...segments.items, ...items],
  })
}

const isWanted = (isArchived: boolean, { includeArchived }: ImportOptions): boolean =>
  !isArchived || includeArchived === true

/** A segment of people is a cohort; any other one is part of the conditions that use it. */
type Usable = { readonly cohort: ImportedCohort } | { readonly members: Expression }

interface Converted {
  readonly item: ImportItem
  /** Undefined when refused. */
  readonly result: Usable | undefined
}

class Segments {
  readonly #sources: ReadonlyMap<string, SourceSegment>
  readonly #converted = new Map<string, Converted>()
  readonly #joined = new Map<string, ImportedCohort>()
  readonly #open = new Set<string>()

  constructor(segments: readonly SourceSegment[]) {
    this.#sources = new Map(segments.map(segment => [segment.key, segment]))
    for (const segment of segments) this.#convert(segment)
  }

  get items(): ImportItem[] {
    return [...this.#sources.keys()].map(key => this.#converted.get(key)!.item)
  }

  /** Those that others refer to come first. */
  get cohorts(): ImportedCohort[] {
    const own = [...this.#converted.values()].flatMap(({ result }) =>
      result && 'cohort' in result ? [result.cohort] : [],
    )
    return [...own, ...this.#joined.values()]
  }

  anyOf(keys: readonly string[], path: string, verdict: Verdict): Expression {
    const used = keys.map(key => this.#use(key, path, verdict))
    const cohorts = used.flatMap(segment => ('cohort' in segment ? [segment.cohort] : []))
    if (cohorts.length < used.length || used.length === 1) {
      const members = used.map(segment =>
        'cohort' in segment ? filter(inCohort(segment.cohort.sourceId)) : segment.members,
      )
      return members.length === 1 ? members[0]! : { kind: 'any', of: members }
    }
    const sourceId = `any:${[...keys].sort().join('|')}`
    this.#joined.set(sourceId, anyOfSegments(sourceId, cohorts, inCohort))
    return filter(inCohort(sourceId))
  }

  #use(key: string, path: string, verdict: Verdict): Usable {
    const source = this.#sources.get(key)
    if (!source) {
      return verdict.refuse(
        `There is no segment "${key}" in the file; add the segments of this environment to it.`,
        path,
      )
    }
    const converted = this.#convert(source)
    if (converted === undefined) {
      return verdict.refuse(`The rules of the segment "${key}" lead back to it; remove one of the references.`, path)
    }
    const { item, result } = converted
    if (result === undefined) {
      const { message = '', path: place = '' } = item.reasons.at(-1) ?? {}
      return verdict.refuse(`The segment "${key}" is refused: ${message}`, place)
    }
    if ('members' in result && item.status === 'approximate') {
      for (const { message, path: place } of item.reasons) verdict.differs(message, place)
    }
    return result
  }

  /** When it is first needed, so that those it refers to come before it. Undefined while it is converted. */
  #convert(segment: SourceSegment): Converted | undefined {
    const { key, path, name, description } = segment
    const cached = this.#converted.get(key)
    if (cached !== undefined || this.#open.has(key)) return cached
    this.#open.add(key)
    const converted: Converted = judge({ kind: 'segment', sourceKey: key, sourceId: key }, (verdict): Usable => {
      const members = membersOf(segment, { verdict, inSegments: (keys, at) => this.anyOf(keys, at, verdict) })
      if (!fitsCohort(members)) return { members }
      const isEmpty = members.kind === 'any' && members.of.length === 0
      const content = isEmpty ? { ids: [] } : { filters: { properties: cohortTreeOf(members, verdict, path) } }
      return { cohort: { sourceId: key, name, description, content } }
    })
    this.#open.delete(key)
    this.#converted.set(key, converted)
    return converted
  }
}
