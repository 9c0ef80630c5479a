import type { Flag, FlagWrite } from '@halyard/contract'
import { type Filters, readFilters, writeFilters } from '../filters.ts'

/** A flag while it is being edited: the fields that the editor can change. */
export interface Draft {
  readonly key: string
  readonly name: string
  readonly active: boolean
  readonly tags: readonly unknown[]
  readonly filters: Filters
  readonly ensure_experience_continuity: boolean
  readonly bucketing_identifier: 'distinct_id' | 'device_id' | null
  readonly evaluation_runtime: 'server' | 'client' | 'all' | null
}

export const emptyDraft: Draft = {
  key: '',
  name: '',
  // New flags start off: nothing is released by creating one.
  active: false,
  tags: [],
  filters: readFilters({ groups: [{ properties: [], rollout_percentage: 100 }] }),
  ensure_experience_continuity: false,
  bucketing_identifier: null,
  evaluation_runtime: null,
}

export const draftOf = (flag: Flag): Draft => ({
  key: flag.key,
  name: flag.name,
  active: flag.active,
  tags: flag.tags,
  filters: readFilters(flag.filters),
  ensure_experience_continuity: flag.ensure_experience_continuity,
  bucketing_identifier:
    flag.bucketing_identifier === 'device_id' ? 'device_id' : flag.bucketing_identifier === null ? null : 'distinct_id',
  evaluation_runtime: flag.evaluation_runtime as Draft['evaluation_runtime'],
})

export const draftToWire = (draft: Draft): FlagWrite & { key: string } => ({
  ...draft,
  tags: [...draft.tags],
  filters: writeFilters(draft.filters),
})

/** Only the changed fields, so that saving does not overwrite another user's change to a different field. */
export function changesOf(draft: Draft, original: Draft): FlagWrite {
  const before = draftToWire(original) as Record<string, unknown>
  const after = draftToWire(draft) as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(after).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field])),
  )
}
