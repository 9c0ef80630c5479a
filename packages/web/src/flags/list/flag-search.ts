import type { Flag } from '@halyard/contract'
import type { FlagKind } from '../flag-cache.ts'

/** The list's filters as URL search parameters, so that a filtered list can be shared. */
export interface FlagSearch {
  readonly q?: string
  readonly state?: 'on' | 'off' | 'stale' | 'archived' | 'deleted'
  readonly type?: 'boolean' | 'variants'
  readonly tag?: string
  readonly owner?: number
  readonly sort?: 'oldest' | 'key' | '-key'
}

const oneOf = <const C extends readonly string[]>(value: unknown, ...choices: C): C[number] | undefined =>
  choices.find(choice => choice === value)

export function readFlagSearch(search: Record<string, unknown>): FlagSearch {
  const state = oneOf(search.state, 'on', 'off', 'stale', 'archived', 'deleted')
  const type = oneOf(search.type, 'boolean', 'variants')
  const sort = oneOf(search.sort, 'oldest', 'key', '-key')
  return {
    ...(search.q !== undefined && search.q !== '' && { q: String(search.q) }),
    ...(state && { state }),
    ...(type && { type }),
    ...(search.tag !== undefined && search.tag !== '' && { tag: String(search.tag) }),
    ...(typeof search.owner === 'number' && { owner: search.owner }),
    ...(sort && { sort }),
  }
}

export const isFiltered = ({ sort: _sort, ...filters }: FlagSearch): boolean => Object.keys(filters).length > 0

export const withoutText = ({ q: _q, ...rest }: FlagSearch): FlagSearch => rest

export const tagsOf = (flag: Flag): string[] => flag.tags.filter(tag => typeof tag === 'string')

/** The searchable text of each flag, built once instead of on every keystroke. */
export const searchTexts = (flags: readonly Flag[]): string[] =>
  flags.map(flag => [flag.key, flag.name, ...tagsOf(flag)].join('\n').toLowerCase())

/** The matching flags, sorted. `flags` are newest first; stale ones have been selected by the server. */
export function selectFlags(flags: readonly Flag[], texts: readonly string[], search: FlagSearch): readonly Flag[] {
  const words = (search.q ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const found = flags.filter((flag, index) => words.every(word => texts[index]?.includes(word)) && fits(flag, search))
  switch (search.sort) {
    case 'oldest':
      return found.reverse()
    case 'key':
      return found.sort((a, b) => compare(a.key, b.key))
    case '-key':
      return found.sort((a, b) => compare(b.key, a.key))
    default:
      return found
  }
}

/** The list that holds the flags with the wanted state. */
export const listOf = ({ state }: FlagSearch): FlagKind =>
  state === 'deleted' || state === 'stale' || state === 'archived' ? state : 'live'

/** Search results that are not loaded yet are older, so they go last. */
export function appendMissing(loaded: readonly Flag[], found: readonly Flag[]): readonly Flag[] {
  if (found.length === 0) return loaded
  const known = new Set(loaded.map(flag => flag.id))
  return [...loaded, ...found.filter(flag => !known.has(flag.id))]
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function fits(flag: Flag, { state, type, tag, owner }: FlagSearch): boolean {
  if (state === 'on' && !flag.active) return false
  if (state === 'off' && flag.active) return false
  if (type !== undefined && hasVariants(flag) !== (type === 'variants')) return false
  if (tag !== undefined && !flag.tags.includes(tag)) return false
  return owner === undefined || flag.created_by.id === owner
}

function hasVariants(flag: Flag): boolean {
  const { multivariate } = flag.filters as { multivariate?: { variants?: unknown[] } | null }
  return (multivariate?.variants?.length ?? 0) > 0
}
