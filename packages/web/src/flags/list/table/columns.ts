import type { SortField } from '../flag-search.ts'

/** The columns that can be hidden, in their order. */
export const columnNames = ['tags', 'owner', 'created', 'updated', 'called', 'usage'] as const
export type ColumnName = (typeof columnNames)[number]

interface Column {
  readonly width: string
  /** Shown also where space is short. */
  readonly isNarrow: boolean
  readonly sort?: SortField
}

export const columns: Readonly<Record<ColumnName, Column>> = {
  tags: { width: 'minmax(0, 8rem)', isNarrow: true },
  owner: { width: '6rem', isNarrow: false },
  created: { width: '6.25rem', isNarrow: false, sort: 'created' },
  updated: { width: '6.75rem', isNarrow: false, sort: 'updated' },
  called: { width: '7.75rem', isNarrow: true, sort: 'called' },
  usage: { width: '5.5rem', isNarrow: false },
}

const defaultColumns: readonly ColumnName[] = ['tags', 'owner', 'created', 'called']
const storageName = 'halyard.flag-columns'

/** The choice of this browser. */
export function readColumns(storage: Pick<Storage, 'getItem'>): readonly ColumnName[] {
  try {
    const chosen: unknown = JSON.parse(storage.getItem(storageName) ?? 'null')
    return Array.isArray(chosen) ? columnNames.filter(name => chosen.includes(name)) : defaultColumns
  } catch {
    return defaultColumns
  }
}

export function writeColumns(storage: Pick<Storage, 'setItem'>, chosen: readonly ColumnName[]): void {
  try {
    storage.setItem(storageName, JSON.stringify(chosen))
  } catch {
    // A full storage costs only the choice.
  }
}

/** The tracks of the grid, for a wide screen and for one with less space. */
export function gridTracks(chosen: readonly ColumnName[]): { readonly wide: string; readonly medium: string } {
  const tracks = (names: readonly ColumnName[]) => names.map(name => columns[name].width).join(' ')
  return { wide: tracks(chosen), medium: tracks(chosen.filter(name => columns[name].isNarrow)) }
}
