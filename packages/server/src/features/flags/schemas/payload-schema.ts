import { isDeepStrictEqual } from 'node:util'
import { parsePayload } from '@halyard/engine'
import type { FreeObject } from '../../../domain/flag.ts'
import { linearRegex } from '../../../evaluation/linear-regex.ts'
import type { Instant } from '../../../instant.ts'
import { invalid, Problem } from '../../../problem.ts'

/** A subset of JSON Schema: what can be checked in bounded time and has a TypeScript type. */
export type JsonSchema = FreeObject

const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const
const annotations = new Set(['$schema', '$id', '$comment', 'title', 'description', 'default', 'examples', 'deprecated'])
const subschemasMax = 500
const depthMax = 20
const patternCharactersMax = 200
/** Bounds the check of all payloads of a flag. */
const stepsMax = 2_000_000

const isObject = (value: unknown): value is FreeObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
const isNumber = (value: unknown): boolean => typeof value === 'number'
const isNames = (value: unknown): boolean => Array.isArray(value) && value.every(name => typeof name === 'string')
const isType = (value: unknown): boolean => types.includes(value as (typeof types)[number])

/** What each keyword must be; subschemas are checked separately. */
const keywords: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: value => isType(value) || (Array.isArray(value) && value.length > 0 && value.every(isType)),
  enum: value => Array.isArray(value) && value.length > 0,
  const: () => true,
  properties: isObject,
  required: isNames,
  additionalProperties: value => typeof value === 'boolean' || isObject(value),
  items: isObject,
  anyOf: value => Array.isArray(value) && value.length > 0 && value.every(isObject),
  minItems: isCount,
  maxItems: isCount,
  minLength: isCount,
  maxLength: isCount,
  pattern: value => typeof value === 'string' && value.length <= patternCharactersMax && isRegex(value),
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
}

/** Raises `invalid` for what is not a supported schema. */
export function checkSchema(schema: JsonSchema): void {
  let count = 0
  const check = (part: JsonSchema, path: string, depth: number): void => {
    count += 1
    if (count > subschemasMax || depth > depthMax) {
      throw wrong(`The schema is too large; the limits are ${subschemasMax} subschemas and ${depthMax} levels.`)
    }
    for (const [name, value] of Object.entries(part)) {
      if (annotations.has(name)) continue
      const isRight = Object.hasOwn(keywords, name) ? keywords[name] : undefined
      if (isRight === undefined) throw wrong(`${path}: the keyword "${name.slice(0, 40)}" is not supported.`)
      if (!isRight(value)) throw wrong(`${path}.${name} is not valid.`)
    }
    for (const [name, child] of subschemasOf(part)) check(child, `${path}.${name}`, depth + 1)
  }
  check(schema, 'schema', 0)
}

/** Why a schema cannot be that of a flag, as a sentence; undefined when it can. */
export function schemaIssue(schema: JsonSchema, filters: FreeObject): string | undefined {
  try {
    checkSchema(schema)
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
  return payloadMismatch(schema, filters)
}

const wrong = (message: string) => invalid('schema', 'invalid_input', message)

function* subschemasOf(schema: JsonSchema): Generator<readonly [string, JsonSchema]> {
  const { properties, additionalProperties, items, anyOf } = schema
  if (isObject(properties)) {
    for (const [name, child] of Object.entries(properties)) {
      if (!isObject(child)) throw wrong(`properties.${name} must be a schema.`)
      yield [`properties.${name}`, child]
    }
  }
  if (isObject(additionalProperties)) yield ['additionalProperties', additionalProperties]
  if (isObject(items)) yield ['items', items]
  if (Array.isArray(anyOf)) for (const [index, child] of anyOf.entries()) yield [`anyOf[${index}]`, child as JsonSchema]
}

function isRegex(pattern: string): boolean {
  try {
    linearRegex(pattern)
    return true
  } catch {
    return false
  }
}

/** The first payload of the filters that does not match, as a sentence; undefined when all do. */
export function payloadMismatch(schema: JsonSchema, filters: FreeObject): string | undefined {
  const { payloads } = filters
  if (!isObject(payloads)) return undefined
  const check = new PayloadCheck()
  for (const [key, payload] of Object.entries(payloads)) {
    if (payload === null || payload === undefined || payload === '') continue
    const value = typeof payload === 'string' ? parsePayload(payload) : payload
    const mismatch = check.mismatch(schema, value, `filters.payloads.${key}`)
    if (mismatch) return mismatch
  }
  return undefined
}

const tooLarge = 'The payloads are too large to be checked against the schema.'

class PayloadCheck {
  #stepsLeft = stepsMax

  mismatch(schema: JsonSchema, value: unknown, path: string): string | undefined {
    if (!this.#spend(1)) return tooLarge
    return (
      typeMismatch(schema, value, path) ??
      this.#alternatives(schema, value, path) ??
      (typeof value === 'string' ? this.#text(schema, value, path) : undefined) ??
      (typeof value === 'number' ? numberMismatch(schema, value, path) : undefined) ??
      (Array.isArray(value) ? this.#list(schema, value, path) : undefined) ??
      (isObject(value) ? this.#object(schema, value, path) : undefined)
    )
  }

  #spend(steps: number): boolean {
    this.#stepsLeft -= steps
    return this.#stepsLeft >= 0
  }

  #alternatives({ anyOf }: JsonSchema, value: unknown, path: string): string | undefined {
    if (!Array.isArray(anyOf)) return undefined
    const isMatch = anyOf.some(option => this.mismatch(option as JsonSchema, value, path) === undefined)
    return isMatch ? undefined : this.#stepsLeft < 0 ? tooLarge : `${path} matches none of anyOf.`
  }

  #text({ minLength, maxLength, pattern }: JsonSchema, value: string, path: string): string | undefined {
    const { length } = value
    if (length < Number(minLength ?? 0)) return `${path} must have at least ${minLength} characters.`
    if (length > Number(maxLength ?? Number.POSITIVE_INFINITY))
      return `${path} must have at most ${maxLength} characters.`
    if (typeof pattern !== 'string') return undefined
    const { size, test } = linearRegex(pattern)
    if (!this.#spend(size * (length + 1))) return `${path} is too long to be checked against the pattern.`
    return test(value) ? undefined : `${path} does not match the pattern ${pattern}.`
  }

  #list({ minItems, maxItems, items }: JsonSchema, value: readonly unknown[], path: string): string | undefined {
    if (value.length < Number(minItems ?? 0)) return `${path} must have at least ${minItems} items.`
    if (value.length > Number(maxItems ?? Number.POSITIVE_INFINITY))
      return `${path} must have at most ${maxItems} items.`
    if (!isObject(items)) return undefined
    return firstOf(value.entries(), ([index, item]) => this.mismatch(items, item, `${path}[${index}]`))
  }

  #object({ properties, required, additionalProperties }: JsonSchema, value: FreeObject, path: string) {
    const missing = (required as string[] | undefined)?.find(name => !Object.hasOwn(value, name))
    if (missing !== undefined) return `${path}.${missing} is required.`
    const declared = isObject(properties) ? properties : {}
    return firstOf(Object.entries(value), ([name, item]) => {
      if (Object.hasOwn(declared, name)) return this.mismatch(declared[name] as JsonSchema, item, `${path}.${name}`)
      if (additionalProperties === false) return `${path}.${name} is not allowed.`
      return isObject(additionalProperties) ? this.mismatch(additionalProperties, item, `${path}.${name}`) : undefined
    })
  }
}

function firstOf<T>(items: Iterable<T>, check: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const mismatch = check(item)
    if (mismatch !== undefined) return mismatch
  }
  return undefined
}

function typeMismatch(schema: JsonSchema, value: unknown, path: string): string | undefined {
  const { type, enum: values, const: constant } = schema
  const allowed = type === undefined ? undefined : ([type].flat() as string[])
  if (allowed && !allowed.some(name => hasType(value, name)))
    return `${path} must be of the type ${allowed.join(' or ')}.`
  if (Array.isArray(values) && !values.some(one => isDeepStrictEqual(one, value))) return `${path} is not in enum.`
  const isOther = Object.hasOwn(schema, 'const') && !isDeepStrictEqual(constant, value)
  return isOther ? `${path} must be ${JSON.stringify(constant)}.` : undefined
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

function numberMismatch(schema: JsonSchema, value: number, path: string): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema as Record<string, number | undefined>
  if (minimum !== undefined && value < minimum) return `${path} must be at least ${minimum}.`
  if (maximum !== undefined && value > maximum) return `${path} must be at most ${maximum}.`
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return `${path} must be above ${exclusiveMinimum}.`
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) return `${path} must be below ${exclusiveMaximum}.`
  return undefined
}

export interface StoredPayloadSchema {
  readonly flagId: number
  readonly flagKey: string
  readonly schema: JsonSchema
  readonly updatedAt: Instant
}
