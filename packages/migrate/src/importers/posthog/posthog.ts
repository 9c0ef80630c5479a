import {
  type CohortFilters,
  type Converter,
  type FlagFilters,
  type ImportedCohort,
  type ImportedFlag,
  ImportFileError,
  type ImportItem,
  reference,
} from '../../model/model.ts'
import { refuseDependents } from '../../model/refuse-dependents.ts'
import { isRecord, type JsonRecord, listOf, requireRecord, requireText, textOr, textsIn } from '../document.ts'
import { GroupTypes } from '../group-types.ts'
import { judge, type Verdict } from '../verdict.ts'

/**
 * The response of the list of feature flags, or `{flags, cohorts, group_type_mapping}` with the responses of both lists.
 * Halyard evaluates PostHog's filters as they are; only ids differ.
 */
export const convertPostHog: Converter = (document, options) => {
  const source = readDocument(document)
  const groupTypes = new GroupTypes(options.groupTypes)
  let archived = 0
  const cohortItems: ImportItem[] = []
  const cohorts: ImportedCohort[] = []
  for (const { value, path } of source.cohorts) {
    if (value.deleted === true) continue
    const sourceId = idOf(value, path)
    const sourceKey = textOr(value.name, '') || sourceId
    const { item, result } = judge({ kind: 'segment', sourceKey, sourceId }, verdict => {
      const cohort = convertCohort(value, sourceId, path, { source, verdict })
      groupTypes.claim(cohort.content, path, verdict)
      return cohort
    })
    cohortItems.push(item)
    if (result) cohorts.push(result)
  }
  const flagItems: ImportItem[] = []
  const flags: ImportedFlag[] = []
  for (const { value, path } of source.flags) {
    if (value.deleted === true) continue
    if (value.archived === true && !options.includeArchived) {
      archived++
      continue
    }
    const sourceId = idOf(value, path)
    const key = requireText(value.key, `${path}.key`, 'The key of a flag')
    const { item, result } = judge({ kind: 'flag', sourceKey: key, sourceId }, verdict => {
      const flag = convertFlag(value, sourceId, path, { source, verdict })
      groupTypes.claim(flag.filters, path, verdict)
      return flag
    })
    flagItems.push(item)
    if (result) flags.push(result)
  }
  return refuseDependents({
    source: 'posthog',
    environment: null,
    flags,
    cohorts,
    archived,
    items: [...cohortItems, ...flagItems],
  })
}

interface Entry {
  readonly value: JsonRecord
  readonly path: string
}

interface Source {
  readonly flags: readonly Entry[]
  readonly cohorts: readonly Entry[]
  /** The name of each group type by its index; undefined when the file does not have it. */
  readonly groupTypes: JsonRecord | undefined
  readonly cohortIds: ReadonlySet<string>
  readonly flagIds: ReadonlySet<string>
  readonly flagIdByKey: ReadonlyMap<string, string>
}

interface Context {
  readonly source: Source
  readonly verdict: Verdict
}

function readDocument(document: unknown): Source {
  const isPage = Array.isArray(document) || (isRecord(document) && Array.isArray(document.results))
  const root: JsonRecord = isPage ? { flags: document } : requireRecord(document, '', 'The document')
  if (root.flags === undefined) {
    throw new ImportFileError('The file must have `results`, or `flags` and `cohorts`, as PostHog writes them.', '')
  }
  const flags = entriesOf(root.flags, isPage ? '' : 'flags')
  const cohorts = root.cohorts === undefined ? [] : entriesOf(root.cohorts, 'cohorts')
  return {
    flags,
    cohorts,
    cohortIds: new Set(cohorts.map(({ value, path }) => idOf(value, path))),
    flagIds: new Set(flags.map(({ value, path }) => idOf(value, path))),
    groupTypes: isRecord(root.group_type_mapping) ? root.group_type_mapping : undefined,
    flagIdByKey: new Map(flags.map(({ value, path }) => [String(value.key), idOf(value, path)])),
  }
}

function entriesOf(listing: unknown, path: string): Entry[] {
  const isPage = isRecord(listing) && Array.isArray(listing.results)
  if (isPage && typeof listing.next === 'string') {
    throw new ImportFileError(
      'The file has only one page of the list; add the pages at `next`, or use --url.',
      `${path}.next`,
    )
  }
  const list = isPage ? listing.results : listing
  const at = isPage ? [path, 'results'].filter(Boolean).join('.') : path
  if (!Array.isArray(list)) throw new ImportFileError('A list of objects is expected here.', at)
  return list.map((value, index) => {
    const place = `${at}[${index}]`
    return { value: requireRecord(value, place, 'An item of the list'), path: place }
  })
}

function idOf(value: JsonRecord, path: string): string {
  if (Number.isInteger(value.id)) return String(value.id)
  return requireText(value.id ?? value.key, `${path}.id`, 'The id')
}

function convertFlag(value: JsonRecord, sourceId: string, path: string, context: Context): ImportedFlag {
  const { verdict } = context
  if (!isRecord(value.filters)) return verdict.refuse('The flag has no filters.', `${path}.filters`)
  if (listOf(value.experiment_set).length > 0) {
    verdict.note('The split of the experiment is the same; its results stay in PostHog.', `${path}.experiment_set`)
  }
  const filters = convertFilters(value.filters, `${path}.filters`, context) as FlagFilters
  return {
    sourceId,
    key: String(value.key),
    name: textOr(value.name, ''),
    active: value.active !== false,
    filters: { ...filters, groups: listOf(filters.groups) as FlagFilters['groups'] },
    tags: textsIn(value.tags),
    archived: value.archived === true,
    ensureExperienceContinuity: value.ensure_experience_continuity === true,
    bucketingIdentifier: value.bucketing_identifier === 'device_id' ? 'device_id' : null,
    // Only files of `export-to posthog` have one.
    ...(isRecord(value.payload_schema) && { payloadSchema: value.payload_schema }),
  }
}

function convertCohort(value: JsonRecord, sourceId: string, path: string, context: Context): ImportedCohort {
  const { verdict } = context
  if (value.is_static === true) {
    return verdict.refuse(
      'The members of a static cohort are not in the file; create a cohort from a list of them.',
      `${path}.is_static`,
    )
  }
  const named = { sourceId, name: textOr(value.name, '') || sourceId, description: textOr(value.description, '') }
  if (!isRecord(value.filters)) return verdict.refuse('The cohort has no filters.', `${path}.filters`)
  const filters = convertFilters(value.filters, `${path}.filters`, context)
  return { ...named, content: { filters: filters as unknown as CohortFilters } }
}

/** Free-form user data without references. */
const opaqueFields: ReadonlySet<string> = new Set(['payloads', 'multivariate'])

/** Replaces ids of cohorts, flags and group types, wherever they are. */
function convertFilters(filters: JsonRecord, path: string, context: Context): JsonRecord {
  return Object.fromEntries(
    Object.entries(filters).map(([name, value]) => {
      const at = `${path}.${name}`
      if (opaqueFields.has(name)) return [name, value]
      if (Array.isArray(value)) {
        return [
          name,
          value.map((item, index) => (isRecord(item) ? convertFilters(item, `${at}[${index}]`, context) : item)),
        ]
      }
      if (isRecord(value)) return [name, convertFilters(value, at, context)]
      return [name, convertField(filters, name, value, at, context)]
    }),
  )
}

function convertField(owner: JsonRecord, name: string, value: unknown, path: string, context: Context): unknown {
  const { source, verdict } = context
  if (owner.type === 'behavioral' && name === 'type') {
    return verdict.refuse('Cohorts by behavior are not imported; create a cohort from a list of its members.', path)
  }
  if (owner.type === 'cohort' && name === 'value') {
    const id = String(value)
    const isKnown = source.cohortIds.has(id)
    return isKnown
      ? reference(id)
      : verdict.refuse(`There is no cohort ${id} in the file; add \`cohorts\` to it.`, path)
  }
  if (owner.type === 'flag' && name === 'key') {
    const id = String(value)
    const isKnown = source.flagIds.has(id)
    const flagId = isKnown ? id : source.flagIdByKey.get(id)
    return flagId === undefined
      ? verdict.refuse(`There is no flag ${id} in the file; add it.`, path)
      : reference(flagId)
  }
  if (/^(aggregation_)?group_type_index$/.test(name) && value !== null) return groupTypeOf(value, path, context)
  return value
}

/** The same group type by its name. */
function groupTypeOf(index: unknown, path: string, { source, verdict }: Context): unknown {
  const name = source.groupTypes?.[String(index)]
  if (typeof name === 'string') return reference(name)
  verdict.differs(
    `Group type ${String(index)} must be the same one in this project; add \`group_type_mapping\` to the file.`,
    path,
  )
  return index
}
