import type { FlagSummary } from '@halyard/contract'

/** The flags that match, wherever they are. */
export interface FlagRows {
  /** Changes when other rows replace these: the list starts from the top. */
  readonly search: string
  readonly count: number
  /** Undefined for a row that is not loaded yet. */
  at(index: number): FlagSummary | undefined
  /** Makes the rows between two indexes available soon. */
  load(first: number, last: number): void
  find(id: number): FlagSummary | undefined
  /** Every matching flag, for bulk actions. */
  readAll(): Promise<readonly FlagSummary[]>
}

export function rowsInMemory(flags: readonly FlagSummary[]): FlagRows {
  return {
    search: '',
    count: flags.length,
    at: index => flags[index],
    load: () => {},
    find: id => flags.find(flag => flag.id === id),
    readAll: async () => flags,
  }
}
