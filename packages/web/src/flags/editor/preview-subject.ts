import type { Filters } from '../filters.ts'

/** A property that the conditions read; others have no effect. */
export interface InputProperty {
  readonly id: string
  readonly key: string
  /** `person`, or the index of a group type. */
  readonly of: string
}

type Properties = Readonly<Record<string, unknown>>

/** What a subject is evaluated with: the stored properties, and what was typed over them. */
export interface SubjectValues {
  /** By `person` or the index of a group type. */
  readonly stored: Readonly<Record<string, Properties>>
  /** By the id of the property. */
  readonly typed: Readonly<Record<string, string>>
}

export function inputProperties(filters: Filters): InputProperty[] {
  const properties = filters.groups
    .flatMap(group => group.properties)
    .filter(({ type, key }) => (type === 'person' || type === 'group') && key !== '')
    .map(({ type, key, group_type_index }): InputProperty => {
      const of = type === 'person' ? 'person' : String(group_type_index ?? 0)
      return { id: `${of} ${key}`, key, of }
    })
  return [...new Map(properties.map(property => [property.id, property])).values()]
}

/** The group types that decide: of the flag, and of its filters. */
export const groupTypesOf = ({ groupTypeIndex }: Filters, inputs: readonly InputProperty[]): string[] => [
  ...new Set([
    ...(groupTypeIndex === null ? [] : [String(groupTypeIndex)]),
    ...inputs.map(({ of }) => of).filter(of => of !== 'person'),
  ]),
]

/** Typed text replaces the stored value, which keeps its type. */
export function propertiesOf(inputs: readonly InputProperty[], values: SubjectValues, of: string): Properties {
  const typed = inputs.flatMap(({ id, key, of: owner }) => {
    const text = values.typed[id]
    return owner !== of || text === undefined ? [] : [[key, text] as const]
  })
  const stored = { ...values.stored[of] }
  for (const [key, text] of typed) {
    if (text === '') delete stored[key]
    else stored[key] = text
  }
  return stored
}

/** The value in a text field. */
export function textOf({ id, key, of }: InputProperty, { typed, stored }: SubjectValues): string {
  const value = typed[id] ?? stored[of]?.[key]
  return value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)
}
