import { contentOf, type Flag, type FlagContent } from '../../domain/flag.ts'

/** Checks flags before they are saved; plugins implement it with `beforeFlagSave`. */
export interface FlagGuard {
  /** False when nothing in the project checks saves. */
  isActive(projectId: number): boolean
  /** Takes its time, so it never runs inside a transaction. Raises `invalid` with the objection. */
  check(save: FlagSave): Promise<void>
}

export interface FlagSave {
  readonly projectId: number
  /** Undefined for a flag that is being created. */
  readonly stored: Flag | undefined
  readonly flag: Omit<Flag, 'id'>
  /** What the filters were derived from, when deriving them again gives other ids. */
  readonly filtersFrom?: string | undefined
}

/** A check is bound to the stored version and to the new content. The creation time of a new flag differs from run to run. */
export function fingerprintOf({ projectId, stored, flag, filtersFrom }: FlagSave): string {
  const { createdAt, filters, ...content }: FlagContent = contentOf(flag)
  const base = stored ? [stored.id, stored.version, createdAt] : null
  return JSON.stringify([projectId, base, content, filtersFrom ?? filters])
}
