import type { Flag } from '@halyard/contract'
import { filterLines, type Wording } from '../flag-sentences.ts'
import type { FieldChange } from '../history/change-list.tsx'

/** The fields that copying carries over. */
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
 * The differences between two flags with the same key. Conditions are compared as sentences, because cohort and flag
 * ids differ between projects while names do not.
 */
export function differencesOf(theirs: Side, mine: Side): FieldChange[] {
  const text = (field: (typeof copiedFields)[number], { flag, wording }: Side): string =>
    JSON.stringify(field === 'filters' ? filterLines(flag.filters, wording) : flag[field])
  return copiedFields
    .filter(field => text(field, theirs) !== text(field, mine))
    .map(field => ({ field, before: theirs.flag[field], after: mine.flag[field] }))
}

/** The fields that a project without this flag receives. */
export const copiedValues = (mine: Flag): FieldChange[] =>
  copiedFields.flatMap(field => {
    const after = mine[field]
    const isDefault = after === null || after === '' || after === false || (Array.isArray(after) && after.length === 0)
    return isDefault && field !== 'active' ? [] : [{ field, before: undefined, after }]
  })
