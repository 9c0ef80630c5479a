import type { Migration } from './migration.ts'
import { foundation } from './migrations/0001-foundation.ts'
import { persons } from './migrations/0002-persons.ts'
import { cohorts } from './migrations/0003-cohorts.ts'
import { flagActions } from './migrations/0004-flag-actions.ts'
import { plugins } from './migrations/0010-plugins.ts'
import { receivedBatches } from './migrations/0011-received-batches.ts'
import { signInFailures } from './migrations/0012-sign-in-failures.ts'

/** The one list, in order. Append only. */
export const migrations: readonly Migration[] = [
  foundation,
  persons,
  cohorts,
  flagActions,
  plugins,
  receivedBatches,
  signInFailures,
]
