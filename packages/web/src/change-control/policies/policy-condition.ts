import type { Messages } from '../../i18n/en.ts'

/** The condition of a policy, as far as the form can edit it. Other conditions are kept as they are. */
export interface ConditionDraft {
  readonly type: ConditionType
  readonly field: string
  readonly operator: string
  /** As typed. */
  readonly value: string
}

export const conditionTypes = [
  'always',
  'any_change',
  'before_after',
  'change_amount',
  'people_affected',
  'losses',
  'tag',
  'author_is_key',
] as const
export type ConditionType = (typeof conditionTypes)[number]

export const operators = ['>', '>=', '<', '<=', '==', '!='] as const
/** Fields of a flag that a condition can name. */
export const conditionFields = ['rollout_percentage', 'filters', 'active', 'name', 'key', 'tags', 'rollback_conditions']

export const emptyCondition: ConditionDraft = { type: 'always', field: 'rollout_percentage', operator: '>', value: '' }

type Condition = Readonly<Record<string, unknown>>

/** Undefined for a condition that only the API can make. */
export function readCondition(condition: Condition): ConditionDraft | undefined {
  const { type, field, operator, value } = condition
  if (type === undefined) return emptyCondition
  const known = conditionTypes.find(each => each === type)
  if (!known) return undefined
  return {
    type: known,
    field: typeof field === 'string' ? field : emptyCondition.field,
    operator: typeof operator === 'string' ? operator : emptyCondition.operator,
    value: value === undefined ? '' : String(value),
  }
}

export function writeCondition({ type, field, operator, value }: ConditionDraft): Record<string, unknown> {
  switch (type) {
    case 'always':
      return {}
    case 'any_change':
      return { type, field }
    case 'before_after':
    case 'change_amount':
      return { type, field, operator, value: typedValue(value) }
    case 'people_affected':
    case 'losses':
      return { type, value: Number(value) }
    case 'tag':
      return { type, value: value.trim() }
    case 'author_is_key':
      return { type }
  }
}

/** Fields hold numbers, booleans or text. */
function typedValue(text: string): number | boolean | string {
  const trimmed = text.trim()
  if (trimmed === 'true' || trimmed === 'false') return trimmed === 'true'
  return trimmed !== '' && Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed
}

/** A condition in words, such as "when Rollout percentage becomes > 50". */
export function conditionSentence(condition: Condition, t: Messages): string {
  const words = t.policies.sentences
  const { type, field, operator, value, conditions } = condition
  const name = fieldName(String(field ?? ''), t)
  switch (type) {
    case undefined:
      return words.always
    case 'any_change':
      return field === undefined ? words.always : words.any_change(name)
    case 'before_after':
    case 'change_amount':
      return words[type](name, String(operator), String(value))
    case 'people_affected':
    case 'losses':
    case 'tag':
      return words[type](String(value))
    case 'author_is_key':
      return words.author_is_key
    case 'all':
      return (Array.isArray(conditions) ? conditions : [])
        .map(each => conditionSentence(each as Condition, t))
        .join(words.and)
    default:
      return JSON.stringify(condition)
  }
}

export const fieldName = (field: string, t: Messages): string =>
  t.policies.fieldName[field] ?? (t.fields as Readonly<Record<string, string>>)[field] ?? field
