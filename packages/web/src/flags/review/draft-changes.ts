import { changesOf, type Draft, draftToWire } from '../editor/draft.ts'
import type { FieldChange } from '../history/change-list.tsx'

/** The differences between two drafts, field by field. */
export function draftChanges(draft: Draft, original: Draft): FieldChange[] {
  const before = draftToWire(original) as Record<string, unknown>
  return Object.entries(changesOf(draft, original)).map(([field, after]) => ({ field, before: before[field], after }))
}
