import type { Draft } from '../draft.ts'
import type { BrokenPayloads } from '../variants/payload-editor.tsx'

/** An edit of a flag that has not been saved. */
export interface UnsavedDraft {
  /** The version that the edit started from; 0 for a new flag. */
  readonly version: number
  readonly original: Draft
  readonly draft: Draft
  readonly broken: BrokenPayloads
}

/** The flag of a draft; `new` for one that does not exist yet. */
export const draftId = (projectId: number | string, flagId: number | 'new'): string => `${projectId}/${flagId}`

/** A stored edit may come from another version of the app: anything of another shape is ignored. */
export function readUnsaved(stored: unknown): UnsavedDraft | undefined {
  const { version, original, draft, broken } = (stored ?? {}) as Partial<UnsavedDraft>
  const isSound =
    typeof version === 'number' && isDraft(original) && isDraft(draft) && typeof broken === 'object' && broken !== null
  return isSound ? { version, original, draft, broken } : undefined
}

const isDraft = (value: Partial<Draft> | undefined): value is Draft =>
  typeof value?.key === 'string' &&
  Array.isArray(value.tags) &&
  Array.isArray(value.filters?.groups) &&
  Array.isArray(value.filters.variants) &&
  typeof value.filters.payloads === 'object' &&
  typeof value.filters.raw === 'object'
