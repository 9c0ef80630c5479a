import { invalid, type Problem } from '../../../problem.ts'

/** One setting of a plugin, as its `plugin.json` describes it. */
export interface ConfigField {
  readonly key: string
  readonly type: ConfigFieldType
  readonly required: boolean
  readonly secret: boolean
  readonly default: string | undefined
  readonly choices: readonly string[]
  readonly visibleIf: readonly FieldCondition[]
  readonly requiredIf: readonly FieldCondition[]
}

export const configFieldTypes = ['string', 'json', 'attachment', 'choice'] as const
export type ConfigFieldType = (typeof configFieldTypes)[number]

/** Another field and the value that it must have; without a value, anything that is not empty. */
export type FieldCondition = readonly [key: string, value?: unknown]

type JsonObject = Record<string, unknown>

export const configFieldsMax = 200

/**
 * The `config` of a plugin.json as the object that a plugin shows as its `config_schema`: fields by their key, and text
 * blocks, which have none, as `markdown_1`, `markdown_2`… Raises `invalid` when a field makes no sense.
 */
export function checkConfigSchema(config: unknown): JsonObject {
  const entries = Array.isArray(config)
    ? config.map(keyOfElement)
    : isObject(config)
      ? Object.entries(config)
      : undefined
  if (!entries) throw fault('config is neither a list nor an object')
  if (entries.length > configFieldsMax) throw fault(`config has more than ${configFieldsMax} fields`)
  const seen = new Set<string>()
  for (const [key, field] of entries) {
    if (seen.has(key)) throw fault(`the config field ${key} occurs twice`)
    if (!isObject(field)) throw fault(`the config field ${key} is not an object`)
    seen.add(key)
  }
  // Unlike an assignment, this also keeps a field named __proto__ an ordinary one.
  const schema: JsonObject = Object.fromEntries(entries)
  for (const [key, field] of entries) checkField(key, field as JsonObject, schema)
  return schema
}

function keyOfElement(field: unknown, index: number, all: readonly unknown[]): [string, unknown] {
  if (isObject(field) && typeof field.key === 'string' && field.key !== '') return [field.key, field]
  if (!isObject(field) || typeof field.markdown !== 'string') throw fault(`config field ${index + 1} has no key`)
  const blocks = all.slice(0, index + 1).filter(other => isObject(other) && !other.key)
  return [`markdown_${blocks.length}`, field]
}

function checkField(key: string, field: JsonObject, schema: JsonObject): void {
  if (field.type === undefined && typeof field.markdown === 'string') return
  const named = `the config field ${key}`
  if (!isType(field.type)) throw fault(`${named} has none of the types ${configFieldTypes.join(', ')}`)
  if (field.type === 'choice') checkChoices(named, field)
  if (field.default !== undefined && field.default !== null && typeof field.default !== 'string') {
    throw fault(`${named} has a default that is not a text`)
  }
  for (const name of ['required', 'secret'] as const) {
    if (field[name] !== undefined && typeof field[name] !== 'boolean') throw fault(`${named}: ${name} is not a boolean`)
  }
  for (const name of ['visible_if', 'required_if'] as const) checkConditions(`${named}: ${name}`, field[name], schema)
}

function checkChoices(named: string, { choices, secret, default: value }: JsonObject): void {
  const areTexts = Array.isArray(choices) && choices.length > 0 && choices.every(choice => typeof choice === 'string')
  if (!areTexts) throw fault(`${named} needs a list of choices`)
  if (secret === true) throw fault(`${named} cannot be a choice and a secret`)
  if (value !== undefined && value !== null && value !== '' && !choices.includes(value as string)) {
    throw fault(`${named} has a default that is not among its choices`)
  }
}

function checkConditions(named: string, conditions: unknown, schema: JsonObject): void {
  if (conditions === undefined || conditions === null) return
  if (!Array.isArray(conditions)) throw fault(`${named} is not a list`)
  for (const condition of conditions) {
    const [key] = Array.isArray(condition) ? condition : []
    if (typeof key !== 'string' || !Object.hasOwn(schema, key)) throw fault(`${named} names no field of this plugin`)
  }
}

/**
 * The fields of a stored `config_schema`. That is free-form, because a client may write anything into it, so what is
 * no field is passed over.
 */
export function readConfigFields(schema: unknown): readonly ConfigField[] {
  const entries = Array.isArray(schema) ? schema.map(field => [undefined, field]) : Object.entries(schema ?? {})
  return entries.flatMap(([key, field]) => readField(key as string | undefined, field))
}

function readField(key: string | undefined, field: unknown): ConfigField[] {
  if (!isObject(field) || !isType(field.type)) return []
  const name = typeof field.key === 'string' && key === undefined ? field.key : key
  if (name === undefined) return []
  return [
    {
      key: name,
      type: field.type,
      required: field.required === true,
      secret: field.secret === true,
      default: typeof field.default === 'string' ? field.default : undefined,
      choices: Array.isArray(field.choices) ? field.choices.filter(choice => typeof choice === 'string') : [],
      visibleIf: readConditions(field.visible_if),
      requiredIf: readConditions(field.required_if),
    },
  ]
}

function readConditions(conditions: unknown): FieldCondition[] {
  if (!Array.isArray(conditions)) return []
  return conditions.filter(condition => Array.isArray(condition) && typeof condition[0] === 'string')
}

function isType(type: unknown): type is ConfigFieldType {
  return configFieldTypes.includes(type as ConfigFieldType)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function fault(what: string): Problem {
  return invalid('plugin.json', 'invalid_input', `plugin.json is invalid: ${what}.`)
}
