import type { FlagSummary } from '@halyard/contract'
import type { FlagKind } from '../flag-cache.ts'

/** What the list can be sorted by, each in both directions; without a choice the newest flags come first. */
export const sortFields = ['key', 'created', 'updated', 'called', 'state'] as const
export type SortField = (typeof sortFields)[number]
export type FlagSort = SortField | `-${SortField}`

/** The list's filters as URL search parameters, so that a filtered list can be shared. */
export interface FlagSearch {
  readonly q?: string
  readonly state?: 'on' | 'off' | 'stale' | 'archived' | 'deleted'
  readonly type?: 'boolean' | 'variants'
  readonly tag?: string
  readonly owner?: number
  readonly favorite?: true
  readonly sort?: FlagSort
}

const oneOf = <const C extends readonly string[]>(value: unknown, ...choices: C): C[number] | undefined =>
  choices.find(choice => choice === value)

const sorts = sortFields.flatMap(field => [field, `-${field}`] as const)

export function readFlagSearch(search: Record<string, unknown>): FlagSearch {
  const state = oneOf(search.state, 'on', 'off', 'stale', 'archived', 'deleted')
  const type = oneOf(search.type, 'boolean', 'variants')
  const sort = oneOf(search.sort, ...sorts)
  return {
    ...(search.q !== undefined && search.q !== '' && { q: String(search.q) }),
    ...(state && { state }),
    ...(type && { type }),
    ...(search.tag !== undefined && search.tag !== '' && { tag: String(search.tag) }),
    ...(typeof search.owner === 'number' && { owner: search.owner }),
    ...(search.favorite === true && { favorite: true }),
    ...(sort && { sort }),
  }
}

/** The filters as a saved view stores them. */
export const writeViewQuery = (search: FlagSearch): string =>
  new URLSearchParams(Object.entries(search).map(([name, value]) => [name, String(value)])).toString()

export function readViewQuery(query: string): FlagSearch {
  const { owner, favorite, ...rest } = Object.fromEntries(new URLSearchParams(query))
  return readFlagSearch({
    ...rest,
    ...(owner !== undefined && /^\d{1,15}$/.test(owner) && { owner: Number(owner) }),
    ...(favorite === 'true' && { favorite: true }),
  })
}

export const isFiltered = ({ sort: _sort, ...filters }: FlagSearch): boolean => Object.keys(filters).length > 0

export const withoutText = ({ q: _q, ...rest }: FlagSearch): FlagSearch => rest

export const tagsOf = (flag: FlagSummary): string[] => flag.tags.filter(tag => typeof tag === 'string')

/** The searchable text of each flag, built once instead of on every keystroke. */
export const searchTexts = (flags: readonly FlagSummary[]): string[] =>
  flags.map(flag => [flag.key, flag.name, ...tagsOf(flag)].join('\n').toLowerCase())

const wordsOf = (text: string | undefined): string[] => (text ?? '').toLowerCase().split(/\s+/).filter(Boolean)

/** The matching flags, sorted. `flags` are newest first; stale ones have been selected by the server. */
export function selectFlags(
  flags: readonly FlagSummary[],
  texts: readonly string[],
  search: FlagSearch,
): readonly FlagSummary[] {
  const words = wordsOf(search.q)
  const matches = flags.filter((flag, index) => words.every(word => texts[index]?.includes(word)) && fits(flag, search))
  const { field, isDescending } = readSort(search.sort)
  const sortValue = sortValues[field]
  if (field === 'created') return isDescending ? matches : matches.reverse()
  // Equal ones are ordered by id in the same direction, as the server does.
  const sorted = matches.sort((a, b) => compare(sortValue(a), sortValue(b)) || a.id - b.id)
  return isDescending ? sorted.reverse() : sorted
}

const sortValues: Readonly<Record<SortField, (flag: FlagSummary) => string>> = {
  key: ({ key }) => key,
  created: ({ created_at }) => created_at,
  updated: ({ updated_at }) => updated_at,
  state: ({ active }) => String(active),
  called: () => '',
}

export function readSort(sort: FlagSort = '-created'): { field: SortField; isDescending: boolean } {
  const isDescending = sort.startsWith('-')
  return { field: (isDescending ? sort.slice(1) : sort) as SortField, isDescending }
}

/** Text sorts from the start of the alphabet first, moments from the newest. Another click turns the order round. */
export function nextSort(sort: FlagSort | undefined, field: SortField): FlagSort {
  const current = readSort(sort)
  if (current.field === field) return current.isDescending ? field : `-${field}`
  return field === 'key' ? field : `-${field}`
}

const orders: Readonly<Record<SortField, string>> = {
  key: 'key',
  created: 'created_at',
  updated: 'updated_at',
  state: 'active',
  called: 'last_called_at',
}

/** The same search as a query of the server. */
export function serverQuery(search: FlagSearch) {
  const { field, isDescending } = readSort(search.sort)
  const active = { on: 'true', off: 'false', stale: 'STALE', archived: undefined, deleted: undefined }
  return {
    search: wordsOf(search.q).join(' '),
    active: search.state && active[search.state],
    deleted: search.state === 'deleted' ? 'true' : undefined,
    archived: search.state === 'archived' ? 'true' : undefined,
    type: search.type && (search.type === 'variants' ? 'multivariant' : 'boolean'),
    tags: search.tag === undefined ? undefined : JSON.stringify([search.tag]),
    favorite: search.favorite && 'true',
    created_by_id: search.owner === undefined ? undefined : String(search.owner),
    order: `${isDescending ? '-' : ''}${orders[field]}`,
  }
}

/** The list that holds the flags with the wanted state. */
export const listOf = ({ state }: FlagSearch): FlagKind =>
  state === 'deleted' || state === 'stale' || state === 'archived' ? state : 'live'

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function fits(flag: FlagSummary, { state, type, tag, owner }: FlagSearch): boolean {
  if (state === 'on' && !flag.active) return false
  if (state === 'off' && flag.active) return false
  if (type !== undefined && flag.variant_count > 0 !== (type === 'variants')) return false
  if (tag !== undefined && !flag.tags.includes(tag)) return false
  return owner === undefined || flag.created_by.id === owner
}
