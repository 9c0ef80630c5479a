import { scimListSchema, scimPageMax } from '@halyard/contract'
import type { PageOf, Window } from '../../pagination.ts'
import { scimInvalid } from './scim-problem.ts'

interface PageQuery {
  readonly startIndex?: string
  readonly count?: string
}

interface ShownQuery {
  readonly attributes?: string
  readonly excludedAttributes?: string
}

/** From `startIndex`, which begins at 1, and `count`. Values below the range count as its lower end (RFC 7644, 3.4.2.4). */
export function readScimWindow({ startIndex, count }: PageQuery, limitMax = scimPageMax): Window {
  const first = Math.max(1, readInteger('startIndex', startIndex) ?? 1)
  const limit = Math.min(limitMax, Math.max(0, readInteger('count', count) ?? limitMax))
  return { offset: first - 1, limit }
}

function readInteger(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^-?\d{1,9}$/.test(text)) throw scimInvalid('invalidValue', name, `\`${name}\` must be an integer.`)
  return Number(text)
}

export const scimPage = <Item>(
  { count, items }: PageOf<Item>,
  { offset }: Window,
  toWire: (item: Item) => Record<string, unknown>,
) => ({
  schemas: [scimListSchema],
  totalResults: count,
  startIndex: offset + 1,
  itemsPerPage: items.length,
  Resources: items.map(toWire),
})

const always = ['id', 'schemas', 'meta']

/** Leaves out what the query does not ask for. Names count in any case; a part of an attribute stands for all of it. */
export function shownAttributes(
  resource: Record<string, unknown>,
  { attributes, excludedAttributes }: ShownQuery,
): Record<string, unknown> {
  const only = namesIn(attributes)
  const excluded = namesIn(excludedAttributes)
  if (only.size === 0 && excluded.size === 0) return resource
  return Object.fromEntries(
    Object.entries(resource).filter(([name]) => {
      if (always.includes(name)) return true
      return only.size > 0 ? only.has(name.toLowerCase()) : !excluded.has(name.toLowerCase())
    }),
  )
}

/** Whether members need not be read. */
export const excludesMembers = ({ attributes, excludedAttributes }: ShownQuery): boolean =>
  namesIn(excludedAttributes).has('members') || (!!attributes && !namesIn(attributes).has('members'))

const namesIn = (list: string | undefined): ReadonlySet<string> =>
  new Set((list ?? '').split(',').flatMap(name => name.trim().toLowerCase().split('.')[0] || []))
