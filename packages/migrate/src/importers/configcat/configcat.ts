import {
  type Converter,
  flagEvaluatesTo,
  type ImportedCohort,
  type ImportedFlag,
  ImportFileError,
  type ImportItem,
  inCohort,
} from '../../model/model.ts'
import { refuseDependents } from '../../model/refuse-dependents.ts'
import { isRecord, type JsonRecord, listOf, requireRecord, textOr } from '../document.ts'
import { all, always, any, cohortTreeOf, type Expression, filter, never, not } from '../expression.ts'
import { type FlagValues, filtersOf, type Rule, resultOf } from '../rules.ts'
import { judge, type Verdict } from '../verdict.ts'
import { type Condition, convertUserCondition, propertyOf } from './comparators.ts'

interface Context {
  readonly verdict: Verdict
  readonly settings: JsonRecord
  readonly segments: readonly unknown[]
  /** The items of the segments, by their position. */
  readonly segmentItems: readonly ImportItem[]
}

/** The config JSON, version 6, that SDKs download. */
export const convertConfigCat: Converter = document => {
  const root = requireRecord(document, '', 'The document')
  if (!isRecord(root.f)) throw new ImportFileError('`f`, the map of settings, must be an object.', 'f')
  const settings = root.f
  const segments = listOf(root.s)
  const segmentItems: ImportItem[] = []
  const cohorts: ImportedCohort[] = []
  for (const [index, value] of segments.entries()) {
    const path = `s[${index}]`
    const name = textOr(requireRecord(value, path, 'A segment').n, `Segment ${index}`)
    const sourceId = segmentId(value, index)
    const { item, result } = judge({ kind: 'segment', sourceKey: name, sourceId }, verdict =>
      cohortTreeOf(all(segmentConditions(value, path, verdict).map(({ holds }) => holds)), verdict, path),
    )
    segmentItems.push(item)
    if (result !== undefined) cohorts.push({ sourceId, name, content: { filters: { properties: result } } })
  }
  const flags: ImportedFlag[] = []
  const flagItems: ImportItem[] = []
  for (const [key, value] of Object.entries(settings)) {
    const path = `f.${key}`
    const setting = requireRecord(value, path, 'A setting')
    const { item, result } = judge({ kind: 'flag', sourceKey: key, sourceId: key }, verdict =>
      convertSetting(key, setting, path, { verdict, settings, segments, segmentItems }),
    )
    flagItems.push(item)
    if (result !== undefined) flags.push(result)
  }
  const items = [...segmentItems, ...flagItems]
  return refuseDependents({ source: 'configcat', environment: null, flags, cohorts, items })
}

const segmentId = (segment: unknown, index: number): string =>
  `segment:${isRecord(segment) ? textOr(segment.n, String(index)) : index}`

function segmentConditions(segment: unknown, path: string, verdict: Verdict): Condition[] {
  return listOf(isRecord(segment) ? segment.r : undefined).map((condition, index) =>
    convertUserCondition(
      requireRecord(condition, `${path}.r[${index}]`, 'A condition'),
      `${path}.r[${index}]`,
      verdict,
    ),
  )
}

/** A value is `{b}`, `{s}`, `{i}` or `{d}`. */
function readValue(value: unknown, path: string, verdict: Verdict): boolean | string | number {
  const [scalar] = isRecord(value) ? Object.values(value) : []
  if (typeof scalar === 'boolean' || typeof scalar === 'string' || typeof scalar === 'number') return scalar
  return verdict.refuse('The value is neither a boolean, nor text, nor a number.', path)
}

class Values implements FlagValues {
  readonly values: { readonly value: unknown }[] = []

  indexOf(value: unknown): number {
    const index = this.values.findIndex(other => other.value === value)
    return index === -1 ? this.values.push({ value }) - 1 : index
  }
}

/** All values of a setting in one order, so that other settings can name them. */
function valuesOf(setting: JsonRecord, path: string, verdict: Verdict): Values {
  const values = new Values()
  const add = (holder: unknown) => values.indexOf(readValue(isRecord(holder) ? holder.v : undefined, path, verdict))
  add(setting)
  for (const rule of listOf(setting.r)) {
    if (!isRecord(rule)) continue
    if (isRecord(rule.s)) add(rule.s)
    for (const option of listOf(rule.p)) add(option)
  }
  for (const option of listOf(setting.p)) add(option)
  return values
}

function convertSetting(key: string, setting: JsonRecord, path: string, context: Context): ImportedFlag {
  const { verdict } = context
  const values = valuesOf(setting, path, verdict)
  const split = (options: readonly unknown[], at: string): Rule['serve'] => {
    const parts = options.map((option, index) => ({
      result: values.indexOf(readValue(isRecord(option) ? option.v : undefined, `${at}[${index}]`, verdict)),
      weight: Number(isRecord(option) ? option.p : Number.NaN),
    }))
    if (parts.reduce((sum, { weight }) => sum + weight, 0) !== 100) {
      return verdict.refuse('The percentages do not add up to 100; correct them first.', at)
    }
    const by = propertyOf(textOr(setting.a, 'Identifier'))
    if (by !== 'distinct_id') {
      verdict.differs(
        `ConfigCat also hashes lists and empty text; send "${by}" always, as text or a number.`,
        `${path}.a`,
      )
    }
    return { bucketing: { algorithm: 'configcat', seed: key, ...(by !== 'distinct_id' && { by }) }, parts }
  }
  const rules = listOf(setting.r).map((value, index): Rule => {
    const at = `${path}.r[${index}]`
    const rule = requireRecord(value, at, 'A targeting rule')
    const when = all(
      listOf(rule.c).map((condition, place) => convertCondition(condition, `${at}.c[${place}]`, context)),
    )
    const options = listOf(rule.p)
    if (options.length > 0) return { path: at, when, serve: split(options, `${at}.p`) }
    const served = isRecord(rule.s) ? rule.s.v : undefined
    return { path: at, when, serve: values.indexOf(readValue(served, `${at}.s`, verdict)) }
  })
  const options = listOf(setting.p)
  const everyone: Rule[] = [
    ...(options.length > 0 ? [{ path, when: always, serve: split(options, `${path}.p`) }] : []),
    { path, when: always, serve: values.indexOf(readValue(setting.v, `${path}.v`, verdict)) },
  ]
  return {
    sourceId: key,
    key,
    name: '',
    active: true,
    filters: filtersOf(values, [...rules, ...everyone], verdict),
    tags: [],
    archived: false,
  }
}

function convertCondition(value: unknown, path: string, context: Context): Expression {
  const { verdict } = context
  if (!isRecord(value)) return verdict.refuse('A condition must be an object.', path)
  if (isRecord(value.u)) return convertUserCondition(value.u, `${path}.u`, verdict).holds
  if (isRecord(value.p)) return prerequisite(value.p, `${path}.p`, context)
  if (isRecord(value.s)) return segmentCondition(value.s, `${path}.s`, context)
  return verdict.refuse('This kind of condition is not known; express it with another one.', path)
}

function prerequisite({ f, c, v }: JsonRecord, path: string, { settings, verdict }: Context): Expression {
  const other = settings[String(f)]
  if (!isRecord(other)) return verdict.refuse(`There is no setting "${String(f)}" in the file; add it.`, `${path}.f`)
  const values = valuesOf(other, `f.${String(f)}`, verdict)
  const wanted = readValue(v, `${path}.v`, verdict)
  if (values.values.some(({ value }) => typeof value !== typeof wanted)) {
    return verdict.refuse('The value has another type than that setting.', `${path}.v`)
  }
  const index = values.values.findIndex(({ value }) => value === wanted)
  const equals = index === -1 ? never : filter(flagEvaluatesTo(String(f), resultOf(values, index)))
  return c === 1 ? not(equals) : equals
}

/** Outside of a segment is who fails a condition after holding all before it. */
function segmentCondition(
  { s, c }: JsonRecord,
  path: string,
  { segments, segmentItems, verdict }: Context,
): Expression {
  const index = Number(s)
  const item = segmentItems[index]
  if (item === undefined) return verdict.refuse(`There is no segment ${index} in the file; add it.`, `${path}.s`)
  if (item.status === 'refused')
    return verdict.refuse(`The segment "${item.sourceKey}" is not imported; see its reason.`, `${path}.s`)
  for (const { message, path: at } of item.reasons) verdict.differs(message, at)
  if (c !== 1) return filter(inCohort(item.sourceId))
  const conditions = segmentConditions(segments[index], `s[${index}]`, verdict)
  return any(
    conditions.map(({ fails }, place) => all([...conditions.slice(0, place).map(({ holds }) => holds), fails])),
  )
}
