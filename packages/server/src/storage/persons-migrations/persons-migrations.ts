import type { Migration } from '../migrations/migration.ts'
import { persons } from './0001-persons.ts'
import { eventDayUpdates } from './0002-event-day-updates.ts'

/** The schema of a database of its own for persons. Append only. */
export const personsMigrations: readonly Migration[] = [persons, eventDayUpdates]
