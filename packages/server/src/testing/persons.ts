import { randomUUID } from 'node:crypto'
import { createPersonLedger } from '../features/persons/person-ledger.ts'
import { type Instant, instantOf } from '../instant.ts'
import type { Scenario } from './scenario.ts'

/** Creates persons by distinct id with these properties, as if reported by events. */
export async function createPersons(
  s: Pick<Scenario, 'halyard'>,
  projectId: number,
  people: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  at: Instant = instantOf(new Date()),
): Promise<void> {
  await s.halyard.database.transaction(
    async tx => {
      const known = await tx.people.persons.findByDistinctIds(projectId, Object.keys(people))
      const ledger = createPersonLedger(known, () => randomUUID())
      for (const [distinctId, properties] of Object.entries(people)) {
        ledger.see(distinctId, at)
        ledger.update(distinctId, { set: properties, setOnce: {}, unset: [] }, at)
      }
      await tx.people.persons.write(projectId, ledger.drafts())
      await tx.changes.append({ topic: 'project', organizationId: null, projectId, entityId: String(projectId), at })
    },
    { withPersons: true },
  )
}
