import type { Author } from '../activity/activity.ts'
import type { Project } from '../tenancy.ts'
import type { FlagContent } from './flag.ts'

/** Who may object to a flag being saved. Plugins do; without any, nobody does. */
export interface FlagGuard {
  /** Asked before the transaction, because it may take a while. Raises `invalid` with the objection. */
  check(project: Project, author: Author, save: FlagSave): Promise<void>
}

export interface FlagSave {
  /** Undefined for a flag that is being created. */
  readonly stored: (FlagContent & { readonly id: number }) | undefined
  readonly content: FlagContent
}

export const openGuard: FlagGuard = { check: async () => {} }
