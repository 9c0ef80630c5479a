/** Reads a plugin's `config_schema` leniently: a client may have stored anything in it. */

export type SettingType = 'string' | 'json' | 'choice' | 'attachment'

export interface Setting {
  readonly key: string
  readonly type: SettingType
  readonly label: string
  readonly hint: string
  readonly isSecret: boolean
  readonly isRequired: boolean
  readonly fallback: string
  readonly choices: readonly string[]
  readonly visibleIf: readonly Condition[]
  readonly requiredIf: readonly Condition[]
}

/** Text between the fields. */
export interface TextBlock {
  readonly key: string
  readonly markdown: string
}

/** Another setting and its required value; without a value, any that is not empty. */
export type Condition = readonly [key: string, value?: unknown]

type Schema = Readonly<Record<string, unknown>>

const types: readonly SettingType[] = ['string', 'json', 'choice', 'attachment']

/** In display order. */
export function readSchema(schema: Schema): (Setting | TextBlock)[] {
  const entries = Object.entries(schema).filter((entry): entry is [string, Schema] => isObject(entry[1]))
  const placed = entries.map(([key, field], index) => ({ key, field, place: placeOf(field), index }))
  placed.sort((a, b) => (a.place === b.place ? a.index - b.index : a.place - b.place))
  return placed.flatMap(({ key, field }) => readField(key, field))
}

export const isSetting = (item: Setting | TextBlock): item is Setting => 'type' in item

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const placeOf = ({ order }: Schema): number => (typeof order === 'number' ? order : Number.POSITIVE_INFINITY)

const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise)

function readField(key: string, field: Schema): (Setting | TextBlock)[] {
  const type = types.find(each => each === field.type)
  const block = typeof field.markdown === 'string' ? [{ key: `${key} text`, markdown: field.markdown }] : []
  if (!type) return block
  return [
    ...block,
    {
      key,
      type,
      label: textOr(field.name, '') || key,
      hint: textOr(field.hint, '') || textOr(field.description, ''),
      isSecret: field.secret === true,
      isRequired: field.required === true,
      fallback: textOr(field.default, ''),
      choices: Array.isArray(field.choices) ? field.choices.filter(choice => typeof choice === 'string') : [],
      visibleIf: readConditions(field.visible_if),
      requiredIf: readConditions(field.required_if),
    },
  ]
}

function readConditions(conditions: unknown): Condition[] {
  if (!Array.isArray(conditions)) return []
  return conditions.filter(condition => Array.isArray(condition) && typeof condition[0] === 'string')
}

/** Values by setting; for stored secrets and files only that they exist. */
export type Values = Readonly<Record<string, unknown>>

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === ''

const allHold = (conditions: readonly Condition[], values: Values): boolean =>
  conditions.every(([key, wanted]) => (wanted === undefined ? !isEmpty(values[key]) : values[key] === wanted))

export const isVisible = (setting: Setting, values: Values): boolean => allHold(setting.visibleIf, values)

export const isNeeded = (setting: Setting, values: Values): boolean =>
  isVisible(setting, values) &&
  (setting.isRequired || (setting.requiredIf.length > 0 && allHold(setting.requiredIf, values)))

export type SettingError = 'required' | 'json'

/** Validates the settings like the server. */
export function validateSettings(settings: readonly Setting[], values: Values): ReadonlyMap<string, SettingError> {
  const errors = new Map<string, SettingError>()
  for (const setting of settings) {
    const value = values[setting.key]
    if (isEmpty(value)) {
      if (isNeeded(setting, values)) errors.set(setting.key, 'required')
    } else if (setting.type === 'json' && typeof value === 'string' && !isJson(value)) errors.set(setting.key, 'json')
  }
  return errors
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
