import {
  type Converter,
  type ImportedCohort,
  type ImportedFlag,
  ImportFileError,
  type ImportItem,
  inCohort,
} from '../../model/model.ts'
import { refuseDependents } from '../../model/refuse-dependents.ts'
import { isRecord, type JsonRecord, listOf, requireList, requireRecord, textOr } from '../document.ts'
import { all, always, cohortTreeOf, type Expression, filter, never, person } from '../expression.ts'
import { type FlagValues, filtersOf, type Result, type Rule } from '../rules.ts'
import { judge, type Verdict } from '../verdict.ts'
import { convertRule } from './segment-conditions.ts'

interface Override {
  readonly state: JsonRecord
  readonly path: string
  readonly when: (verdict: Verdict) => Expression
  readonly priority: number
  readonly description: string
}

/** The environment document that SDKs with local evaluation download. */
export const convertFlagsmith: Converter = document => {
  const root = requireRecord(document, '', 'The document')
  if (!Array.isArray(root.feature_states)) {
    throw new ImportFileError('`feature_states` must be an array; use the environment document.', 'feature_states')
  }
  const identityPrefix = `${textOr(root.api_key, '')}_`
  const constants = { '$.environment.name': textOr(root.name, ''), '$.environment.key': textOr(root.api_key, '') }
  const project = isRecord(root.project) ? root.project : {}
  const segments = requireList(project.segments, 'project.segments', '`segments`')
    .map((value, index) => {
      const path = `project.segments[${index}]`
      return { segment: requireRecord(value, path, 'A segment'), path }
    })
    .sort((left, right) => Number(left.segment.id) - Number(right.segment.id))
  const items: ImportItem[] = []
  const cohorts: ImportedCohort[] = []
  const overrides = new Map<string, Override[]>()
  const addOverride = (override: Override): void => {
    const name = nameOf(override.state)
    overrides.set(name, [...(overrides.get(name) ?? []), override])
  }
  for (const { segment, path } of segments) {
    const key = String(segment.id)
    const sourceId = `segment:${key}`
    const name = textOr(segment.name, `Segment ${key}`)
    const rules = listOf(segment.rules)
    const membersOf = (verdict: Verdict): Expression => {
      const context = { verdict, segmentKey: key, identityPrefix, constants }
      if (rules.length === 0) return never
      return all(rules.map((rule, index) => convertRule(rule, `${path}.rules[${index}]`, context)))
    }
    const isSplit = JSON.stringify(rules).includes('"PERCENTAGE_SPLIT"')
    const { item, result } = judge({ kind: 'segment', sourceKey: name, sourceId }, verdict => {
      const members = membersOf(verdict)
      return isSplit ? null : cohortTreeOf(members, verdict, path)
    })
    // A segment with a percentage becomes part of the flags that use it.
    items.push(item)
    if (result) cohorts.push({ sourceId, name, content: { filters: { properties: result } } })
    for (const [index, state] of listOf(segment.feature_states).entries()) {
      if (!isRecord(state)) continue
      const { priority } = isRecord(state.feature_segment) ? state.feature_segment : {}
      addOverride({
        state,
        path: `${path}.feature_states[${index}]`,
        when: verdict => {
          if (isSplit) return membersOf(verdict)
          for (const { message, path: at } of item.reasons) {
            if (item.status === 'approximate') verdict.differs(message, at)
          }
          return filter(inCohort(sourceId))
        },
        priority: typeof priority === 'number' ? priority : Number.POSITIVE_INFINITY,
        description: name,
      })
    }
  }
  for (const [index, identity] of listOf(root.identity_overrides).entries()) {
    if (!isRecord(identity)) continue
    for (const [at, state] of listOf(identity.identity_features).entries()) {
      if (!isRecord(state)) continue
      addOverride({
        state,
        path: `identity_overrides[${index}].identity_features[${at}]`,
        when: () => person('distinct_id', 'text_equals', textOr(identity.identifier, '')),
        priority: Number.NEGATIVE_INFINITY,
        description: 'Identity override',
      })
    }
  }
  const flags: ImportedFlag[] = []
  for (const [index, value] of (root.feature_states as unknown[]).entries()) {
    const path = `feature_states[${index}]`
    const state = requireRecord(value, path, 'A feature state')
    const name = nameOf(state)
    if (name === '') throw new ImportFileError('A feature requires a `name`.', `${path}.feature.name`)
    const { item, result } = judge({ kind: 'flag', sourceKey: name, sourceId: name }, verdict =>
      convertFeature({ name, state, path, overrides: overrides.get(name) ?? [], identityPrefix }, verdict),
    )
    items.push(item)
    if (result !== undefined) flags.push(result)
  }
  return refuseDependents({
    source: 'flagsmith',
    environment: typeof root.name === 'string' ? root.name : null,
    flags,
    cohorts,
    items,
  })
}

const nameOf = ({ feature }: JsonRecord): string => (isRecord(feature) ? textOr(feature.name, '') : '')

interface SourceFeature {
  readonly name: string
  readonly state: JsonRecord
  readonly path: string
  readonly overrides: readonly Override[]
  readonly identityPrefix: string
}

/** The override with the lowest priority wins; of equal ones the segment with the lowest id. */
function convertFeature({ name, state, path, overrides, identityPrefix }: SourceFeature, verdict: Verdict) {
  const values = new Values()
  const ordered = [...overrides].sort((left, right) =>
    left.priority === right.priority ? 0 : left.priority < right.priority ? -1 : 1,
  )
  const rules = [
    ...ordered.map(
      (override): Rule => ({
        when: override.when(verdict),
        serve: servedBy(override.state, override.path, values, identityPrefix, verdict),
        path: override.path,
        description: override.description,
      }),
    ),
    { when: always, serve: servedBy(state, path, values, identityPrefix, verdict), path },
  ]
  return {
    sourceId: name,
    key: name,
    name: '',
    active: true,
    filters: filtersOf(values, rules, verdict),
    tags: [],
    archived: false,
  }
}

class Values implements FlagValues {
  readonly hasOwnSwitch = true
  readonly values: { readonly value: unknown }[] = []

  /** A feature without a value is only on or off. */
  resultFor(value: unknown): Result {
    if (value === null || value === undefined) return 'on'
    const index = this.values.findIndex(other => other.value === value)
    return index === -1 ? this.values.push({ value }) - 1 : index
  }
}

function servedBy(
  state: JsonRecord,
  path: string,
  values: Values,
  identityPrefix: string,
  verdict: Verdict,
): Rule['serve'] {
  const variants = listOf(state.multivariate_feature_state_values).filter(isRecord)
  const value = state.feature_state_value ?? null
  if (state.enabled !== true) {
    if (value !== null || variants.length > 0) {
      verdict.differs(
        'In Flagsmith a disabled feature still has a value; here it has none, so check whether it is enabled first.',
        `${path}.enabled`,
      )
    }
    return 'off'
  }
  if (variants.length === 0) return values.resultFor(value)
  const seed = state.django_id ?? state.featurestate_uuid
  if (seed === undefined || seed === null)
    return verdict.refuse('The id that is hashed is missing; use the environment document of the SDK API.', path)
  const parts = [...variants]
    .sort((left, right) => compareBigInts(orderOf(left), orderOf(right)))
    .map(variant => ({
      result: values.resultFor(valueIn(variant)),
      weight: Number(variant.percentage_allocation) || 0,
    }))
  const sum = parts.reduce((total, { weight }) => total + weight, 0)
  const rest = { result: values.resultFor(value), weight: Math.max(0, 101 - sum) }
  const bucketing = { algorithm: 'flagsmith', seed: String(seed), identifier_prefix: identityPrefix }
  return { bucketing, parts: [...parts, rest] }
}

const valueIn = ({ multivariate_feature_option: option }: JsonRecord): unknown =>
  isRecord(option) ? option.value : null

function orderOf({ id, mv_fs_value_uuid: uuid }: JsonRecord): bigint {
  if (typeof id === 'number') return BigInt(id)
  const digits = textOr(uuid, '').replaceAll('-', '')
  return /^[\da-f]+$/i.test(digits) ? BigInt(`0x${digits}`) : 0n
}

const compareBigInts = (left: bigint, right: bigint): number => (left < right ? -1 : left > right ? 1 : 0)
