import { Problem } from '../../problem.ts'
import type { Database, Stores } from '../../stores.ts'
import { contentOf, type Flag, type FlagContent } from './flag.ts'

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

/** Called by a use case with what it is about to save. */
export type ApproveSave = (save: FlagSave) => void

/** For the system's own changes, such as a rollback. */
export const withoutApproval: ApproveSave = () => {}

/** How often a flag may change between its check and its save. */
const checksMax = 3

/**
 * Runs a transaction that saves flags, after the guard has checked them. The first run computes what would be saved and is rolled back when
 * the guard has to check it; a later run commits unless a flag has changed since, which is checked again.
 */
export async function saveWithApproval<T>(
  database: Database,
  guard: FlagGuard,
  work: (tx: Stores, approve: ApproveSave) => Promise<T>,
): Promise<T> {
  const approved = new Set<string>()
  for (let checks = 0; ; checks++) {
    try {
      return await database.transaction(async tx => {
        const unchecked: FlagSave[] = []
        const result = await work(tx, save => {
          if (guard.isActive(save.projectId) && !approved.has(fingerprintOf(save))) unchecked.push(save)
        })
        if (unchecked.length > 0) throw new DryRunRollback(unchecked)
        return result
      })
    } catch (error) {
      if (!(error instanceof DryRunRollback)) throw error
      if (checks === checksMax) throw keepsChanging()
      for (const save of error.unchecked) {
        await guard.check(save)
        approved.add(fingerprintOf(save))
      }
    }
  }
}

/** Rolls a transaction back that was run to compute what it would save. */
class DryRunRollback extends Error {
  readonly unchecked: readonly FlagSave[]

  constructor(unchecked: readonly FlagSave[]) {
    super('Flags have to be checked before they are saved.')
    this.name = 'DryRunRollback'
    this.unchecked = unchecked
  }
}

/** Approval is bound to the stored version and to the new content. The creation time of a new flag differs from run to run. */
function fingerprintOf({ projectId, stored, flag, filtersFrom }: FlagSave): string {
  const { createdAt, filters, ...content }: FlagContent = contentOf(flag)
  const base = stored ? [stored.id, stored.version, createdAt] : null
  return JSON.stringify([projectId, base, content, filtersFrom ?? filters])
}

const keepsChanging = (): Problem =>
  new Problem('conflict', 'The flag kept changing while plugins checked it; nothing was changed. Try again.')
