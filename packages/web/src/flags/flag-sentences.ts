import type { Messages } from '../i18n/en.ts'
import { type Condition, type Filters, type Property, readFilters } from './filters.ts'

/** What sentences about conditions need besides the conditions. */
export interface Wording {
  readonly t: Messages
  readonly percent: (value: number) => string
  readonly groupTypes: Readonly<Record<string, string>>
  cohortName(id: string): string
  flagKey(id: string): string
}

export function propertySentence(property: Property, wording: Wording): string {
  const sentence = filterSentence(property, wording)
  return property.inverted === true ? wording.t.words.not(sentence) : sentence
}

function filterSentence(property: Property, { t, groupTypes, cohortName, flagKey }: Wording): string {
  const w = t.words
  if (property.type === 'cohort') {
    return property.operator === 'not_in'
      ? w.notInCohort(cohortName(String(property.value)))
      : w.inCohort(cohortName(String(property.value)))
  }
  if (property.type === 'flag') {
    const value =
      property.value === true
        ? t.editor.isOn
        : property.value === false
          ? t.editor.isOff
          : w.evaluatesTo(String(property.value))
    return w.flag(flagKey(property.key), value)
  }
  const operators: Record<string, string> = t.operators
  const subject =
    property.type === 'group'
      ? `${groupTypes[String(property.group_type_index)] ?? 'group'}.${property.key}`
      : property.key
  const operator = operators[property.operator] ?? property.operator
  if (property.operator === 'is_set' || property.operator === 'is_not_set') return `${subject} ${operator}`
  return `${subject} ${operator} ${valueText(property.value, w)}`
}

/** A value, or alternatives joined by "or", as part of a sentence. */
export const valueText = (value: unknown, w: Messages['words']): string =>
  Array.isArray(value) ? value.map(item => valueText(item, w)).join(` ${w.or} `) : oneValue(value, w)

const oneValue = (value: unknown, { quoted }: Messages['words']): string =>
  typeof value === 'string' ? quoted(value) : JSON.stringify(value ?? null)

export function conditionSentence(condition: Condition, filters: Filters, wording: Wording): string {
  const { t, percent, groupTypes } = wording
  const audience =
    filters.groupTypeIndex === null
      ? t.flagState.people
      : t.flagState.groups(groupTypes[filters.groupTypeIndex] ?? String(filters.groupTypeIndex))
  const rollout = t.words.percentOf(percent(condition.rollout_percentage ?? 100), audience)
  const where = condition.properties.map(property => propertySentence(property, wording)).join(` ${t.editor.and} `)
  const result = condition.value === false ? t.flagState.off : condition.variant
  const variant = result ? ` → ${result}` : ''
  return (where === '' ? rollout : `${rollout} ${t.editor.where} ${where}`) + variant
}

/** Filters as lines of text, for diffs. */
export function filterLines(raw: Readonly<Record<string, unknown>>, wording: Wording): string[] {
  const { t, percent } = wording
  const filters = readFilters(raw)
  const { groups: _g, multivariate: _m, payloads: _p, aggregation_group_type_index: _a, ...rest } = raw
  return [
    ...filters.groups.map(
      (condition, index) => `${t.editor.condition(index + 1)}: ${conditionSentence(condition, filters, wording)}`,
    ),
    ...filters.variants.map(
      ({ key, rollout_percentage }) => `${t.words.variant} ${key}: ${percent(rollout_percentage)}`,
    ),
    ...Object.entries(filters.payloads).map(
      ([key, value]) =>
        `${key === 'true' ? t.editor.payload : t.editor.payloadOf(key)}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    ),
    ...Object.entries(rest).map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
  ]
}
