import { canConditionHold, type PolicyFieldType, policyComparisonsOf, policyFieldTypes } from '@halyard/contract'
import type { Messages } from '../../i18n/en.ts'

/** The condition of a policy, as far as the form can edit it. Other conditions are kept as they are. */
export interface ConditionDraft {
  readonly type: ConditionType
  readonly field: string
  readonly operator: string
  /** As typed. */
  readonly value: string
}

const conditionTypes = [
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

/** Fields of a flag that the form offers; a policy made by the API keeps another one. */
const conditionFields = ['rollout_percentage', 'filters', 'active', 'name', 'key', 'tags', 'rollback_conditions']

const hasField = (type: ConditionType): boolean =>
  type === 'any_change' || type === 'before_after' || type === 'change_amount'

/** Undefined for what cannot be compared. */
export const fieldType = (field: string): PolicyFieldType | undefined => policyFieldTypes[field] ?? undefined

/** The conditions that can hold for an action. */
export const typesFor = (action: string): readonly ConditionType[] =>
  conditionTypes.filter(type => canConditionHold(action, { type, field: hasField(type) }))

/** The fields that a condition of this type can name. */
export function fieldsFor(type: ConditionType, current: string): readonly string[] {
  const fields = [...new Set([...conditionFields, current])]
  if (type === 'change_amount') return fields.filter(field => fieldType(field) === 'percentage')
  return type === 'before_after' ? fields.filter(field => fieldType(field) !== undefined) : fields
}

export const operatorsFor = (field: string): readonly string[] => policyComparisonsOf(fieldType(field) ?? 'text')

/** What a field is compared with where there is only a choice. */
export function choicesFor(field: string): readonly string[] | undefined {
  const type = fieldType(field)
  if (type === 'boolean') return ['true', 'false']
  return typeof type === 'object' ? type : undefined
}

/** The same condition for another action, type or field, with what does not fit replaced. */
export function fitCondition(draft: ConditionDraft, action: string): ConditionDraft {
  const types = typesFor(action)
  const type = types.includes(draft.type) ? draft.type : 'always'
  const fields = fieldsFor(type, draft.field)
  const field = fields.includes(draft.field) ? draft.field : emptyCondition.field
  const operator = operatorsFor(field).find(each => each === draft.operator) ?? operatorsFor(field)[0]!
  const choices = type === 'before_after' ? choicesFor(field) : undefined
  const value = choices && !choices.includes(draft.value) ? choices[0]! : draft.value
  return { type, field, operator, value }
}

export const emptyCondition: ConditionDraft = { type: 'always', field: 'rollout_percentage', operator: '>', value: '' }

type Condition = Readonly<Record<string, unknown>>

/** Undefined for a condition that only the API can make. */
export function readCondition(condition: Condition): ConditionDraft | undefined {
  const { type, field, operator, value } = condition
  if (type === undefined) return emptyCondition
  const conditionType = conditionTypes.find(each => each === type)
  if (!conditionType) return undefined
  return {
    type: conditionType,
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
      return { type, field, operator, value: typedValue(value, field) }
    case 'people_affected':
    case 'losses':
      return { type, value: Number(value) }
    case 'tag':
      return { type, value: value.trim() }
    case 'author_is_key':
      return { type }
  }
}

function typedValue(text: string, field: string): number | boolean | string {
  const type = fieldType(field)
  if (type === 'boolean') return text === 'true'
  return type === 'percentage' ? Number(text) : text
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
