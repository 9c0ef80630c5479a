import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { newUuid } from '../identity/secret.ts'
import { createPersonLedger, type MergeOutcome } from '../persons/person-ledger.ts'
import { announceProject } from '../projects/create-project.ts'
import type { IncomingEvent } from './event.ts'
import { distinctIdsIn, groupFactIn, groupTypesIn, learnPerson } from './update-profiles.ts'
import type { Tally } from './usage/tally.ts'

/** What one project's events have to say, in the order in which they came. */
export interface ProjectEvents {
  readonly project: Project
  readonly events: readonly IncomingEvent[]
  readonly tally: Tally
}

/** What came of it, for the metrics. */
export interface Recorded {
  readonly merges: ReadonlyMap<MergeOutcome, number>
  readonly refusedProperties: number
  readonly refusedGroupTypes: number
}

/** Everything that the events teach and count, in the caller's transaction. */
export async function recordEvents(tx: Stores, given: ProjectEvents, now: Instant): Promise<Recorded> {
  const { project, events, tally } = given
  const persons = await recordPersons(tx, project, events, now)
  const refusedGroupTypes = await recordGroups(tx, project, events, now)
  if (tally.usage.length > 0) await tx.usage.add(project.id, tally.usage)
  if (tally.counts.length > 0) await tx.eventCounts.add(project.id, tally.counts)
  return { ...persons, refusedGroupTypes }
}

async function recordPersons(
  tx: Stores,
  project: Project,
  events: readonly IncomingEvent[],
  now: Instant,
): Promise<Pick<Recorded, 'merges' | 'refusedProperties'>> {
  const distinctIds = [...new Set(events.flatMap(distinctIdsIn))]
  const ledger = createPersonLedger(await tx.persons.findByDistinctIds(project.id, distinctIds), newUuid)
  const merges = new Map<MergeOutcome, number>()
  for (const event of events) {
    const outcome = learnPerson(ledger, event)
    if (outcome) merges.set(outcome, (merges.get(outcome) ?? 0) + 1)
  }
  const drafts = ledger.drafts()
  if (drafts.length > 0) {
    // Evaluation looks nobody up as long as there is nobody: the first one changes how the project is served.
    if ((await tx.persons.scan(project.id, 0, 1)).length === 0) await announceProject(tx, project, now)
    const absorbed = await tx.persons.write(project.id, drafts)
    for (const { fromId, intoId } of absorbed) await tx.cohortMembers.move(fromId, intoId)
  }
  return { merges, refusedProperties: ledger.refusedProperties() }
}

/** Answers how many types found no free index. */
async function recordGroups(
  tx: Stores,
  project: Project,
  events: readonly IncomingEvent[],
  now: Instant,
): Promise<number> {
  const indexes = new Map(Object.entries(project.groupTypes).map(([index, name]) => [name, Number(index)]))
  const facts = events.map(event => ({ fact: groupFactIn(event), at: event.at }))
  const types = new Set([...events.flatMap(groupTypesIn), ...facts.flatMap(({ fact }) => (fact ? [fact.type] : []))])
  let refused = 0
  let hasNew = false
  for (const type of types) {
    if (indexes.has(type)) continue
    const given = await tx.groups.ensureType(project.id, type)
    if (given) indexes.set(type, given.index)
    else refused += 1
    hasNew ||= given?.isNew ?? false
  }
  if (hasNew) await announceProject(tx, project, now)
  for (const { fact, at } of facts) {
    if (!fact) continue
    const typeIndex = indexes.get(fact.type)
    if (typeIndex !== undefined) await tx.groups.update(project.id, { typeIndex, key: fact.key }, fact.update, at)
  }
  return refused
}
