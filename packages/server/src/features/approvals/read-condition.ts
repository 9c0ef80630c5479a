import { invalid, type Problem } from '../../problem.ts'
import { type Comparison, comparisons, type PolicyCondition } from './policy.ts'

const conditionsMax = 10

/** Raises `invalid` (`conditions`) for an invalid condition: a policy that cannot be evaluated must not allow changes. */
export function readCondition(value: Readonly<Record<string, unknown>>, depth = 0): PolicyCondition {
  const { type, field, operator, value: limit, conditions } = value
  switch (type) {
    case undefined:
      if (Object.keys(value).length > 0) throw wrong('`type` is required.')
      return {}
    case 'any_change':
      if (field !== undefined && !isText(field)) throw wrong('`field` must be the name of a field.')
      return field === undefined ? { type } : { type, field }
    case 'before_after':
    case 'change_amount':
      if (!isText(field)) throw wrong(`\`field\` is required for ${type}.`)
      if (!comparisons.includes(operator as Comparison))
        throw wrong(`\`operator\` must be one of ${comparisons.join(' ')}.`)
      if (
        type === 'change_amount' ? !isNumber(limit) : !isNumber(limit) && !isText(limit) && typeof limit !== 'boolean'
      ) {
        throw wrong(`\`value\` has the wrong type for ${type}.`)
      }
      return { type, field, operator: operator as Comparison, value: limit as number }
    case 'people_affected':
    case 'losses':
      if (!isNumber(limit) || limit < 0) throw wrong('`value` must be a number of people.')
      return { type, value: limit }
    case 'tag':
      if (!isText(limit)) throw wrong('`value` must be a tag.')
      return { type, value: limit }
    case 'author_is_key':
      return { type }
    case 'all':
      if (!Array.isArray(conditions) || conditions.length === 0 || conditions.length > conditionsMax || depth > 0) {
        throw wrong(`\`conditions\` must be a list of 1 to ${conditionsMax} conditions, not nested.`)
      }
      return { type, conditions: conditions.map(one => readCondition(isObject(one) ? one : { one }, depth + 1)) }
    default:
      throw wrong('unknown `type`.')
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const wrong = (what: string): Problem => invalid('conditions', 'invalid_input', `conditions: ${what}`)
