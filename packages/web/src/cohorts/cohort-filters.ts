import type { Property } from '../flags/filters.ts'
import { readFilters } from '../flags/filters.ts'

/** A list of filters that must all hold, which is what nearly every cohort is. */
export interface SimpleFilters {
  readonly type: 'AND' | 'OR'
  readonly properties: readonly Property[]
}

type Bag = Record<string, unknown>

/** Undefined for a tree of groups within groups: that is edited as JSON. */
export function readCohortFilters(filters: Readonly<Record<string, unknown>>): SimpleFilters | undefined {
  let node = (filters.properties ?? filters) as Bag
  if (node.values === undefined) return { type: 'AND', properties: [] }
  const values = node.values as Bag[]
  if (values.length === 1 && Array.isArray(values[0]?.values)) node = values[0] as Bag
  const members = node.values as Bag[]
  if (!Array.isArray(members) || members.some(member => Array.isArray(member.values))) return undefined
  const { groups } = readFilters({ groups: [{ properties: members }] })
  return { type: node.type === 'OR' ? 'OR' : 'AND', properties: groups[0]?.properties ?? [] }
}

export const writeCohortFilters = ({ type, properties }: SimpleFilters): Record<string, unknown> => ({
  properties: { type: 'OR', values: [{ type, values: properties.map(property => ({ ...property })) }] },
})

/** The first column of a CSV file; a head that says so is left out. */
export function readIds(text: string): string[] {
  const cells = text.split(/\r?\n/).map(line => (line.split(/[,;\t]/, 1)[0] ?? '').trim().replace(/^"(.*)"$/, '$1'))
  const ids = cells.filter(cell => cell !== '')
  return /^(distinct_?id|id|user_?id|email)s?$/i.test(ids[0] ?? '') ? ids.slice(1) : ids
}
