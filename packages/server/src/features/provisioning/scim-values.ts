import { isOneLine } from '../../http/routes/one-line.ts'
import { scimInvalid } from './scim-problem.ts'

/** Reading what identity providers send: bounded, storable, and without names that JavaScript gives a meaning. */

export type ScimAttributes = Readonly<Record<string, unknown>>

const textCharactersMax = 4000
const nameCharactersMax = 255

/** Such a name in a path or as a key would reach the prototype of objects. */
const unsafeName = /__proto__|\b(?:constructor|prototype)\b/i
export const isUnsafeName = (name: string): boolean => unsafeName.test(name)

export const isAttributes = (value: unknown): value is ScimAttributes =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Raises `invalid` for keys and texts that must not be stored. The depth was limited when the body was parsed. */
export function checkAttributes(value: unknown, attribute: string): void {
  if (typeof value === 'string') checkText(value, attribute)
  if (typeof value !== 'object' || value === null) return
  for (const [key, part] of Object.entries(value)) {
    const isListed = Array.isArray(value)
    if (!isListed && (key === '' || key.length > nameCharactersMax || isUnsafeName(key) || !isStorable(key))) {
      throw scimInvalid('invalidPath', attribute, `\`${attribute}\` has an attribute whose name is not allowed.`)
    }
    checkAttributes(part, isListed || attribute !== '' ? attribute : key)
  }
}

function checkText(text: string, attribute: string): void {
  if (text.length > textCharactersMax) {
    throw scimInvalid('invalidValue', attribute, `\`${attribute}\` can have at most ${textCharactersMax} characters.`)
  }
  if (!isStorable(text)) {
    throw scimInvalid('invalidValue', attribute, `\`${attribute}\` contains characters that cannot be stored.`)
  }
}

const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** A name or id: one line; undefined when it is absent or null. */
export function readName(attributes: ScimAttributes, attribute: string): string | undefined {
  const value = attributes[attribute]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value.length > nameCharactersMax || !isOneLine(value)) {
    throw scimInvalid(
      'invalidValue',
      attribute,
      `\`${attribute}\` must be one line of at most ${nameCharactersMax} characters.`,
    )
  }
  return value.trim() === '' ? undefined : value.trim()
}

/** Attributes that must not be missing. */
export function readRequiredName(attributes: ScimAttributes, attribute: string): string {
  const value = readName(attributes, attribute)
  if (value === undefined) throw scimInvalid('invalidValue', attribute, `\`${attribute}\` is required.`)
  return value
}

export function readList(attributes: ScimAttributes, attribute: string, itemsMax: number): readonly unknown[] {
  const value = attributes[attribute] ?? []
  if (!Array.isArray(value) || value.length > itemsMax) {
    throw scimInvalid('invalidValue', attribute, `\`${attribute}\` must be a list of at most ${itemsMax} elements.`)
  }
  return value
}

/** Names of attributes count in any case: these get the case of the schema. */
export function withCanonicalNames(attributes: ScimAttributes, names: readonly string[]): ScimAttributes {
  const canonical = new Map(names.map(name => [name.toLowerCase(), name]))
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [canonical.get(name.toLowerCase()) ?? name, value]),
  )
}

export function requireSchema(attributes: ScimAttributes, schema: string): void {
  const { schemas } = attributes
  if (!Array.isArray(schemas) || !schemas.includes(schema)) {
    throw scimInvalid('invalidSyntax', 'schemas', `\`schemas\` must contain ${schema}.`)
  }
}
