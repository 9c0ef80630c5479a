import type { Migration } from './migration.ts'
import { foundation } from './migrations/0001-foundation.ts'

/** The one list, in order. Append only. */
export const migrations: readonly Migration[] = [foundation]
