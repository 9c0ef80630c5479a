import type { Flag } from '@halyard/contract'
import { filterLines, type Wording } from '../flag-sentences.ts'
import type { FieldChange } from '../history/change-list.tsx'

/** What copying carries over. */
const copiedFields = [
  'active',
  'name',
  'filters',
  'ensure_experience_continuity',
  'bucketing_identifier',
  'evaluation_runtime',
  'evaluation_contexts',
] as const

interface Side {
  readonly flag: Flag
  readonly wording: Wording
}

/**
 * How two flags of the same key differ. Conditions are compared in words: cohorts and flags have other ids in another project,
 * and the same names.
 */
export function differencesOf(theirs: Side, mine: Side): FieldChange[] {
  const text = (field: (typeof copiedFields)[number], { flag, wording }: Side): string =>
    JSON.stringify(field === 'filters' ? filterLines(flag.filters, wording) : flag[field])
  return copiedFields
    .filter(field => text(field, theirs) !== text(field, mine))
    .map(field => ({ field, before: theirs.flag[field], after: mine.flag[field] }))
}

/** What a project that does not have the flag gets. */
export const everythingOf = (mine: Flag): FieldChange[] =>
  copiedFields.flatMap(field => {
    const after = mine[field]
    const isPlain = after === null || after === '' || after === false || (Array.isArray(after) && after.length === 0)
    return isPlain && field !== 'active' ? [] : [{ field, before: undefined, after }]
  })
