import type { Database, Stores } from '../../stores.ts'
import { contentOf, type Flag, type FlagContent } from '../flags/flag.ts'

/** Who may object to a flag being saved. */
export interface FlagGuard {
  /** False when nobody in the project would object to anything. */
  isActive(projectId: number): boolean
  /** May take a while. Raises `invalid` with the objection. */
  check(save: FlagSave): Promise<void>
}

export interface FlagSave {
  readonly projectId: number
  /** Undefined for a flag that is being created. */
  readonly stored: Flag | undefined
  readonly flag: Omit<Flag, 'id'>
}

/** The transaction wants to save flags that nobody has been asked about. */
class NeedsConsent extends Error {
  readonly saves: readonly FlagSave[]

  constructor(saves: readonly FlagSave[]) {
    super('Flags are to be saved that have not been agreed to.')
    this.saves = saves
  }
}

/**
 * A database whose transactions save a flag only after the guard has been asked, wherever the save comes from. Asking
 * takes too long for a transaction, so one that wants to save something new is rolled back, the guard is asked, and it
 * runs again. What Halyard does by itself, such as rolling a flag back, is not asked about.
 */
export function guardFlagSaves(database: Database, findGuard: () => FlagGuard | undefined): Database {
  return {
    ...database,
    async transaction(work) {
      const agreed = new Set<string>()
      for (;;) {
        try {
          return await database.transaction(tx => runGuarded(tx, work, findGuard(), agreed))
        } catch (error) {
          if (!(error instanceof NeedsConsent)) throw error
          for (const save of error.saves) {
            await findGuard()?.check(save)
            agreed.add(printOf(save))
          }
        }
      }
    },
  }
}

async function runGuarded<T>(
  tx: Stores,
  work: (tx: Stores) => Promise<T>,
  guard: FlagGuard | undefined,
  agreed: ReadonlySet<string>,
): Promise<T> {
  if (!guard) return work(tx)
  const open: FlagSave[] = []
  const note = (save: FlagSave): void => {
    if (!agreed.has(printOf(save))) open.push(save)
  }
  const isAsked = (flag: Omit<Flag, 'id'>) => flag.lastModifiedBy !== null && guard.isActive(flag.projectId)
  const flags: Stores['flags'] = {
    ...tx.flags,
    create(flag) {
      if (isAsked(flag)) note({ projectId: flag.projectId, stored: undefined, flag })
      return tx.flags.create(flag)
    },
    async save(flag) {
      if (isAsked(flag)) note({ projectId: flag.projectId, stored: await tx.flags.find(flag.projectId, flag.id), flag })
      await tx.flags.save(flag)
    },
  }
  const result = await work(tx.with({ flags }))
  if (open.length > 0) throw new NeedsConsent(open)
  return result
}

/** Agreement is to a content, whatever version number it gets in the end. Creation times differ from run to run. */
function printOf({ projectId, stored, flag }: FlagSave): string {
  const { createdAt, ...content }: FlagContent = contentOf(flag)
  return JSON.stringify([projectId, stored?.id ?? null, stored?.version ?? null, content, stored ? createdAt : null])
}
