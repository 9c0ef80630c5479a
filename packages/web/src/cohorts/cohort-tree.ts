import { type Property, readFilters } from '../flags/filters.ts'

/** A cohort's definition as the editor sees it: filters and groups side by side, nested. */
export interface FilterTree {
  readonly type: 'AND' | 'OR'
  readonly members: readonly FilterMember[]
}

export type FilterMember = FilterTree | Property

export const isTree = (member: FilterMember): member is FilterTree => 'members' in member

export const emptyTree: FilterTree = { type: 'AND', members: [] }

type JsonObject = Record<string, unknown>
const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Undefined for an unknown shape, which can still be edited as JSON. */
export function readTree(filters: Readonly<Record<string, unknown>>): FilterTree | undefined {
  const root = Object.hasOwn(filters, 'properties') ? filters.properties : filters
  if (root === null || (isRecord(root) && root.values === undefined)) return emptyTree
  const tree = readGroup(root)
  // The usual wrapper: a single group inside a group.
  const [only] = tree?.members ?? []
  return tree?.members.length === 1 && only !== undefined && isTree(only) ? only : tree
}

function readGroup(value: unknown): FilterTree | undefined {
  if (!isRecord(value) || !Array.isArray(value.values) || !value.values.every(isRecord)) return undefined
  const members = value.values.map(readMember)
  if (members.some(member => member === undefined)) return undefined
  return { type: value.type === 'OR' ? 'OR' : 'AND', members: members as FilterMember[] }
}

function readMember(value: JsonObject): FilterMember | undefined {
  if (value.values === undefined) return readFilters({ groups: [{ properties: [value] }] }).groups[0]?.properties[0]
  return readGroup(value)
}

/**
 * On the wire a group holds either groups or filters. In a mixed group each filter becomes a group of its own, which
 * is equivalent.
 */
export function writeTree(tree: FilterTree): Record<string, unknown> {
  if (tree.members.some(isTree)) return { properties: writeGroup(tree) }
  return { properties: { type: 'OR', values: [writeGroup(tree)] } }
}

function writeGroup({ type, members }: FilterTree): JsonObject {
  if (!members.some(isTree)) return { type, values: members.map(member => ({ ...member })) }
  return {
    type,
    values: members.map(member => writeGroup(isTree(member) ? member : { type: 'AND', members: [member] })),
  }
}

/** The path of the root group on the wire; validation issues refer to such paths. */
export const rootPath = (tree: FilterTree): string =>
  tree.members.some(isTree) ? 'filters.properties' : 'filters.properties.values[0]'

export const memberPath = (path: string, index: number): string => `${path}.values[${index}]`
