import { invalid, type Problem } from '../../../problem.ts'
import { type ConfigField, type FieldCondition, isObject } from './config-field.ts'

/** The values of one configuration, by field key. Attachments are kept apart and appear here only by their key. */
export type ConfigValues = Readonly<Record<string, unknown>>

/** What a secret looks like to everybody but the plugin. */
export const secretMask = '••••••••'

/** What a plugin starts with when nobody has configured it. */
export function defaultValues(fields: readonly ConfigField[]): ConfigValues {
  return Object.fromEntries(
    fields.filter(field => field.default !== undefined).map(field => [field.key, field.default]),
  )
}

/**
 * Raises `invalid` at the first field whose value it cannot have, or that is needed and empty. `attached` names the
 * attachment fields that have a file.
 */
export function checkValues(fields: readonly ConfigField[], values: ConfigValues, attached: ReadonlySet<string>): void {
  const full: ConfigValues = { ...values, ...Object.fromEntries([...attached].map(key => [key, true])) }
  for (const field of fields) {
    const value = full[field.key]
    if (isEmpty(value)) {
      if (isNeeded(field, full)) throw fault(field, 'required', 'needs a value')
    } else if (field.type !== 'attachment') {
      checkValue(field, value)
    }
  }
}

function checkValue(field: ConfigField, value: unknown): void {
  if (field.type === 'choice' && !field.choices.includes(value as string)) {
    throw fault(field, 'invalid_choice', `must be one of: ${field.choices.join(', ')}`)
  }
  if (field.type === 'string' && typeof value !== 'string') throw fault(field, 'invalid_input', 'must be a text')
  if (field.type === 'json' && !isJson(value)) throw fault(field, 'invalid_input', 'must be valid JSON')
}

/** A JSON field takes the text of a value, as a form sends it, or the value itself. */
function isJson(value: unknown): boolean {
  if (typeof value !== 'string') return true
  try {
    JSON.parse(value)
    return true
  } catch {
    return false
  }
}

/** A field that is not shown is never needed. */
function isNeeded(field: ConfigField, values: ConfigValues): boolean {
  if (!allMatch(field.visibleIf, values)) return false
  return field.required || (field.requiredIf.length > 0 && allMatch(field.requiredIf, values))
}

function allMatch(conditions: readonly FieldCondition[], values: ConfigValues): boolean {
  return conditions.every(([key, wanted]) => (wanted === undefined ? !isEmpty(values[key]) : values[key] === wanted))
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/**
 * New values in place of old ones, whole, except for secrets: one that is left out, null or still masked keeps its old
 * value, because its reader never had it to send back. The empty text clears it.
 */
export function replaceValues(fields: readonly ConfigField[], old: ConfigValues, next: ConfigValues): ConfigValues {
  const kept: Record<string, unknown> = {}
  for (const { key, secret } of fields) {
    const isUntouched = secret && (next[key] === undefined || next[key] === null || next[key] === secretMask)
    if (isUntouched && old[key] !== undefined) kept[key] = old[key]
  }
  return { ...withoutMasks(fields, next), ...kept }
}

function withoutMasks(fields: readonly ConfigField[], values: ConfigValues): ConfigValues {
  const secrets = new Set(fields.filter(field => field.secret).map(field => field.key))
  return Object.fromEntries(Object.entries(values).filter(([key, value]) => !secrets.has(key) || value !== secretMask))
}

export function maskSecrets(fields: readonly ConfigField[], values: ConfigValues): ConfigValues {
  const masked: Record<string, unknown> = { ...values }
  for (const { key, secret } of fields)
    if (secret && key in masked) masked[key] = isEmpty(masked[key]) ? '' : secretMask
  return masked
}

export function checkIsValues(values: unknown): ConfigValues {
  if (!isObject(values)) throw invalid('config', 'invalid_input', 'The configuration must be an object.')
  return values
}

function fault({ key }: ConfigField, code: string, what: string): Problem {
  return invalid(`config__${key}`, code, `The setting ${key} ${what}.`)
}
