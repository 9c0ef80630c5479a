import { type Filter, parse } from 'scim2-parse-filter'
import { scimInvalid } from './scim-problem.ts'

/** `userName eq "ada"`, with the attribute in lower case. */
export interface Comparison<Attribute extends string> {
  readonly attribute: Attribute
  readonly value: string
}

const filterCharactersMax = 1000
const comparisonsMax = 10

/** Comparisons by `eq`, all of which must hold. Raises `invalid` for everything else. */
export function readFilter<Attribute extends string>(
  text: string | undefined,
  attributes: readonly Attribute[],
): readonly Comparison<Attribute>[] {
  if (text === undefined) return []
  const comparisons = comparisonsOf(parseFilter(text), attributes)
  if (comparisons.length > comparisonsMax) throw unsupported(attributes)
  return comparisons
}

/** Raises `invalid`. The length is limited first: the parser is recursive. */
export function parseFilter(text: string): Filter {
  if (text.length > filterCharactersMax) {
    throw scimInvalid('invalidFilter', 'filter', `\`filter\` can have at most ${filterCharactersMax} characters.`)
  }
  try {
    return parse(text)
  } catch {
    throw scimInvalid('invalidFilter', 'filter', '`filter` cannot be parsed. Use, for example: userName eq "ada".')
  }
}

function comparisonsOf<Attribute extends string>(
  filter: Filter,
  attributes: readonly Attribute[],
): readonly Comparison<Attribute>[] {
  if (filter.op === 'and') return filter.filters.flatMap(part => comparisonsOf(part, attributes))
  if (filter.op !== 'eq' || typeof filter.compValue !== 'string') throw unsupported(attributes)
  const name = withoutSchema(filter.attrPath).toLowerCase()
  const attribute = attributes.find(each => each === name)
  if (attribute === undefined) throw unsupported(attributes)
  return [{ attribute, value: filter.compValue }]
}

const unsupported = (attributes: readonly string[]) =>
  scimInvalid('invalidFilter', 'filter', `\`filter\` supports \`eq\` and \`and\` with ${attributes.join(', ')}.`)

/** An attribute can be written with the URN of its schema. */
export const withoutSchema = (path: string): string =>
  path.replace(/^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/i, '')
