import { isUtf8 } from 'node:buffer'
import { bytesMaxKeyword } from '@halyard/contract'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalid, Problem } from '../../problem.ts'
import { eachStretch, isTooDeep, refuseHeavyJson, tooDeep } from '../sdk-body/json-text.ts'
import { isOneLine } from './one-line.ts'

type AnySchema = TSchema & {
  type?: string
  properties?: Record<string, AnySchema>
  required?: readonly string[]
  additionalProperties?: unknown
  anyOf?: readonly AnySchema[]
  items?: AnySchema
  const?: unknown
  maxLength?: number
  minLength?: number
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
  [bytesMaxKeyword]?: number
}

/** Whether a value matches a schema. Schemas are compiled on first use: compiling all would take most of the start. */
export function shapeChecker(schema: TSchema): (value: unknown) => boolean {
  let compiled: { Check(value: unknown): boolean } | undefined
  return value => {
    compiled ??= Compile(schema)
    return compiled.Check(value)
  }
}

/**
 * Creates the validator of a route's body. The compiled schema checks validity quickly; only an invalid body is inspected
 * field by field, in the order of the schema, to name the first field at fault and say what to do about it. `field` is where the
 * object itself stands in a larger body.
 */
export function bodyChecker(schema: TSchema, field: string | null = null): (body: unknown) => void {
  const isRight = shapeChecker(schema)
  const anySchema = schema as AnySchema
  const hasByteLimits = limitsBytes(anySchema)
  return body => {
    if (isRight(body)) {
      checkStored(anySchema, body)
      if (hasByteLimits) checkBytes(anySchema, body, [])
      return
    }
    if (anySchema.type === 'object' && (typeof body !== 'object' || body === null || Array.isArray(body))) {
      throw invalid(field, 'invalid_input', 'Send a JSON object.')
    }
    throw (
      firstFault(anySchema, body, []) ?? invalid(null, 'invalid_input', 'The body does not have the documented shape.')
    )
  }
}

function firstFault(schema: AnySchema, value: unknown, path: readonly string[]): Problem | undefined {
  if (schema.type !== 'object' || !schema.properties) return fault(schema, value, path)
  if (!isObject(value)) return fault(schema, value, path)
  for (const [name, property] of Object.entries(schema.properties)) {
    const here = [...path, name]
    if (!Object.hasOwn(value, name)) {
      if (schema.required?.includes(name)) return invalid(here.join('__'), 'required', 'This field is required.')
      continue
    }
    const problem = firstFault(property, value[name], here)
    if (problem) return problem
  }
  const declared = schema.properties
  const other = schema.additionalProperties === false && Object.keys(value).find(name => !Object.hasOwn(declared, name))
  return other ? invalid([...path, other].join('__'), 'invalid_input', 'This field is not known.') : undefined
}

function fault(schema: AnySchema, value: unknown, path: readonly string[]): Problem | undefined {
  const field = path.join('__') || null
  const wrong = (code: string, message: string) => invalid(field, code, message)
  if (schema.anyOf) {
    if (schema.anyOf.some(option => fault(option, value, path) === undefined)) return undefined
    if (value === null) return wrong('null', 'This field may not be null.')
    const choices = schema.anyOf.filter(option => 'const' in option).map(option => JSON.stringify(option.const))
    if (choices.length > 0) return wrong('invalid_choice', `Use one of ${choices.join(', ')}.`)
    return fault(schema.anyOf[0]!, value, path)
  }
  if ('const' in schema) return value === schema.const ? undefined : wrong('invalid_choice', 'Not a valid choice.')
  if (schema.type === undefined) return undefined
  if (value === null && schema.type !== 'null') return wrong('null', 'This field may not be null.')
  switch (schema.type) {
    case 'null':
      return value === null ? undefined : wrong('invalid_input', 'This field must be null.')
    case 'string':
      if (typeof value !== 'string') return wrong('invalid_input', 'This field must be a string.')
      if (value.length < (schema.minLength ?? 0)) {
        return value === ''
          ? wrong('blank', 'This field may not be blank.')
          : wrong('min_length', `Use at least ${schema.minLength} characters.`)
      }
      if ([...value].length > (schema.maxLength ?? Number.POSITIVE_INFINITY)) {
        return wrong('max_length', `Use at most ${schema.maxLength} characters.`)
      }
      return undefined
    case 'boolean':
      return typeof value === 'boolean' ? undefined : wrong('invalid_input', 'This field must be true or false.')
    case 'integer':
      if (!Number.isSafeInteger(value)) return wrong('invalid_input', 'This field must be an integer.')
      return rangeFault(schema, value as number, wrong)
    case 'number':
      if (typeof value !== 'number') return wrong('invalid_input', 'This field must be a number.')
      return rangeFault(schema, value, wrong)
    case 'array':
      if (!Array.isArray(value)) return wrong('not_a_list', 'This field must be a list.')
      if (value.length < (schema.minItems ?? 0)) {
        return wrong('min_length', `Use at least ${schema.minItems} element${schema.minItems === 1 ? '' : 's'}.`)
      }
      if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY)) {
        return wrong('max_length', `Use at most ${schema.maxItems} elements.`)
      }
      return itemFault(schema, value, path)
    case 'object':
      return isObject(value) ? undefined : wrong('not_a_dict', 'This field must be an object.')
    default:
      return undefined
  }
}

function rangeFault(
  { minimum, maximum }: AnySchema,
  value: number,
  wrong: (code: string, message: string) => Problem,
): Problem | undefined {
  if (minimum !== undefined && value < minimum) return wrong('min_value', `Use at least ${minimum}.`)
  return maximum !== undefined && value > maximum ? wrong('max_value', `Use at most ${maximum}.`) : undefined
}

function itemFault(schema: AnySchema, items: readonly unknown[], path: readonly string[]): Problem | undefined {
  if (!schema.items) return undefined
  for (const [index, item] of items.entries()) {
    const problem = firstFault(schema.items, item, [])
    if (!problem) continue
    const code = schema.items.type === 'integer' ? 'incorrect_type' : (problem.code ?? 'invalid_input')
    const where = problem.field ? `Element ${index}, ${problem.field}` : `Element ${index}`
    return invalid(path.join('__'), code, `${where}: ${problem.message}`)
  }
  return undefined
}

/**
 * What a schema cannot say: a text that must not be empty must not be all blanks either. And PostgreSQL stores no NUL, and no
 * database a lone surrogate: text that cannot be stored unchanged is rejected on both. SQLite stores integers that cannot be read again.
 */
function checkStored(schema: AnySchema, body: unknown, path: readonly string[] = []): void {
  if (schema.items && Array.isArray(body)) {
    for (const item of body) {
      if (typeof item === 'string') checkStorable(item, path)
      else if (typeof item === 'number') checkInteger(schema.items, item, path)
      else checkStored(schema.items, item, path)
    }
    return
  }
  if (!schema.properties || !isObject(body)) return
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined
    const here = [...path, name]
    if (typeof value === 'object') checkStored(property, value, here)
    if (typeof value === 'number') checkInteger(property, value, here)
    if (typeof value !== 'string') continue
    if (property.type !== 'string' && !property.anyOf) continue
    if ((property.minLength ?? 0) > 0 && value.trim() === '') {
      throw invalid(here.join('__'), 'blank', 'This field may not be blank.')
    }
    checkStorable(value, here)
    if (isName(name, property) && !isOneLine(value)) {
      throw invalid(here.join('__'), 'invalid_input', 'Use one line without control characters.')
    }
  }
}

function checkStorable(text: string, path: readonly string[]): void {
  if (!text.includes('\u0000') && text.isWellFormed()) return
  throw invalid(path.join('__'), 'invalid_input', 'This field contains characters that cannot be stored.')
}

function checkInteger(schema: AnySchema, value: number, path: readonly string[]): void {
  if (Number.isSafeInteger(value) || ![schema, ...(schema.anyOf ?? [])].some(({ type }) => type === 'integer')) return
  throw invalid(path.join('__'), 'max_value', `Use at most ${Number.MAX_SAFE_INTEGER}.`)
}

const nameFields = new Set(['name', 'label', 'title', 'first_name'])
const nameCharactersMax = 400

/** Names appear in emails, logs and sentences. The `name` of a flag is a description, which is longer and may have several lines. */
function isName(field: string, schema: AnySchema): boolean {
  const lengthMax = schema.maxLength ?? Math.max(0, ...(schema.anyOf ?? []).map(option => option.maxLength ?? 0))
  return nameFields.has(field) && lengthMax > 0 && lengthMax <= nameCharactersMax
}

/** Whether the schema limits the bytes of some free-form value. */
const limitsBytes = (schema: AnySchema): boolean =>
  schema[bytesMaxKeyword] !== undefined ||
  Object.values(schema.properties ?? {}).some(limitsBytes) ||
  (schema.anyOf ?? []).some(limitsBytes) ||
  (schema.items !== undefined && limitsBytes(schema.items))

/** Free-form JSON has no lengths in its schema, so its size as a whole is limited. */
function checkBytes(schema: AnySchema, value: unknown, path: readonly string[]): void {
  const bytesMax = schema[bytesMaxKeyword]
  if (bytesMax !== undefined && jsonBytesLeft(value, bytesMax) < 0) {
    throw invalid(path.join('__') || null, 'max_length', `Use at most ${bytesMax} bytes of JSON.${largestPart(value)}`)
  }
  for (const option of schema.anyOf ?? []) if (limitsBytes(option)) checkBytes(option, value, path)
  if (schema.items && limitsBytes(schema.items) && Array.isArray(value)) {
    for (const item of value) checkBytes(schema.items, item, path)
  }
  if (!schema.properties || !isObject(value)) return
  for (const [name, property] of Object.entries(schema.properties)) {
    if (Object.hasOwn(value, name) && limitsBytes(property)) checkBytes(property, value[name], [...path, name])
  }
}

/** Names the part that is too large: the payload of a flag, not its filters as a whole. */
function largestPart(value: unknown): string {
  if (!isObject(value)) return ''
  const left = Object.entries(value).map(([name, part]) => ({
    name,
    left: jsonBytesLeft(part, Number.MAX_SAFE_INTEGER),
  }))
  const [largest] = left.sort((a, b) => a.left - b.left)
  return largest ? ` The largest part is \`${largest.name.slice(0, 40)}\`.` : ''
}

/** What is left of the bytes after the value as JSON, escapes aside; stops early when nothing is. */
function jsonBytesLeft(value: unknown, bytes: number): number {
  if (typeof value === 'string') return bytes - Buffer.byteLength(value) - 2
  if (typeof value !== 'object' || value === null) return bytes - String(value).length
  let left = bytes - 2
  if (Array.isArray(value)) {
    for (const item of value) {
      if (left < 0) return left
      left = jsonBytesLeft(item, left - 1)
    }
    return left
  }
  for (const key in value) {
    if (left < 0) return left
    left = jsonBytesLeft((value as Record<string, unknown>)[key], left - Buffer.byteLength(key) - 4)
  }
  return left
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads a raw request body as JSON. No body at all is `undefined`. */
export function readJson(raw: Buffer | undefined, contentType: string | undefined): unknown {
  if (!raw || raw.length === 0) return undefined
  if (!/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType ?? '')) {
    throw new Problem('unsupported_media', 'Send the body as JSON, with the header Content-Type: application/json.')
  }
  if (!isUtf8(raw)) throw new Problem('unparsable', 'The body is not valid UTF-8.')
  const text = raw.toString('utf8')
  if (text.trim() === '') return undefined
  refuseHeavyJson(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Problem('unparsable', 'The body is not valid JSON.')
  }
  checkNumbers(text)
  if (isTooDeep(value)) throw tooDeep()
  return value
}

/** What was written is what is read: a number that JavaScript would round is refused, not changed. */
function checkNumbers(text: string): void {
  if (!doubtful.test(text)) return
  eachStretch(text, (from, to) => {
    const stretch = text.slice(from, to)
    if (!doubtful.test(stretch)) return
    for (const [token] of stretch.matchAll(/-?\d[\d.eE+-]*/g)) checkNumber(token)
  })
}

const doubtful = /\d{16}|\d[eE]/

function checkNumber(token: string): void {
  const number = Number(token)
  const isKept = Number.isFinite(number) && (!/^-?\d+$/.test(token) || BigInt(token) === BigInt(number))
  if (isKept) return
  throw new Problem(
    'unparsable',
    `The number ${token.slice(0, 40)} cannot be represented exactly; send it as a string.`,
  )
}
