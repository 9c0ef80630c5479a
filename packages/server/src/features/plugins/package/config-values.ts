import { invalid, type Problem } from '../../../problem.ts'
import { type ConfigField, type FieldCondition, isObject } from './config-field.ts'

/** The values of one configuration, by field key. Attachments are stored separately. */
export type ConfigValues = Readonly<Record<string, unknown>>

/** The mask that replaces a secret for everyone but the plugin. */
export const secretMask = '••••••••'

/** The defaults of a plugin before it is configured. */
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
  if (field.type === 'string' && typeof value !== 'string') throw fault(field, 'invalid_input', 'must be a string')
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

/** Keys of values that were encrypted once: they stay secret whatever the fields declare later. */
export type SealedKeys = ReadonlySet<string>

const noneSealed: SealedKeys = new Set()

const isSecretKey = (fields: readonly ConfigField[], sealed: SealedKeys) => {
  const declared = new Set(fields.filter(field => field.secret).map(field => field.key))
  return (key: string): boolean => declared.has(key) || sealed.has(key)
}

/**
 * Replaces all values, except for secrets: one that is left out, null or still masked keeps its old value, because the
 * client never had it to send back. The empty text clears it.
 */
export function replaceValues(
  fields: readonly ConfigField[],
  old: ConfigValues,
  next: ConfigValues,
  sealed: SealedKeys = noneSealed,
): ConfigValues {
  const isSecret = isSecretKey(fields, sealed)
  const unchanged: Record<string, unknown> = {}
  for (const { key } of fields) {
    const isUntouched = isSecret(key) && (next[key] === undefined || next[key] === null || next[key] === secretMask)
    if (isUntouched && old[key] !== undefined) unchanged[key] = old[key]
  }
  const sent = Object.entries(next).filter(([key, value]) => !isSecret(key) || value !== secretMask)
  return { ...Object.fromEntries(sent), ...unchanged }
}

export function maskSecrets(
  fields: readonly ConfigField[],
  values: ConfigValues,
  sealed: SealedKeys = noneSealed,
): ConfigValues {
  const isSecret = isSecretKey(fields, sealed)
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      isSecret(key) && value !== undefined ? (isEmpty(value) ? '' : secretMask) : value,
    ]),
  )
}

export function checkIsValues(values: unknown): ConfigValues {
  if (!isObject(values)) throw invalid('config', 'invalid_input', 'The configuration must be an object.')
  return values
}

function fault({ key }: ConfigField, code: string, what: string): Problem {
  return invalid(`config__${key}`, code, `The setting ${key} ${what}.`)
}
