import type { IncomingEvent } from '../../domain/event.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { newUuid } from '../identity/secret.ts'
import { createPersonLedger, type MergeOutcome } from '../persons/person-ledger.ts'
import type { WrittenPersons } from '../persons/write-persons.sql.ts'
import { announceProject } from '../projects/create-project.ts'
import { countBehavior } from './count-behavior.ts'
import { applyToLedger, distinctIdsIn, groupTypesIn, groupUpdateIn } from './update-profiles.ts'
import type { Tally } from './usage/tally.ts'

/** The events of one project in order of arrival, with their counts. */
export interface ProjectEvents {
  readonly project: Project
  readonly events: readonly IncomingEvent[]
  readonly tally: Tally
}

/** Outcome of recording, for the metrics. */
export interface Recorded {
  readonly merges: ReadonlyMap<MergeOutcome, number>
  readonly refusedProperties: number
  readonly refusedGroupTypes: number
}

/** Updates persons, groups and counters in the caller's transaction; persons and groups by the events that they do not have yet. */
export async function recordEvents(
  tx: Stores,
  whole: ProjectEvents,
  events: readonly IncomingEvent[],
  now: Instant,
): Promise<Recorded> {
  const { project, tally } = whole
  const { joinedIn, ...persons } = await recordPersons(tx, whole, events, now)
  const refusedGroupTypes = await recordGroups(tx, project, events, now)
  // Rows of the main database are locked last: neither database would notice a deadlock between the two.
  for (const cohortId of joinedIn.toSorted((a, b) => a - b)) await tx.cohorts.addToCount(cohortId, -1)
  if (tally.usage.length > 0) await tx.usage.add(project.id, tally.usage)
  if (tally.counts.length > 0) await tx.eventCounts.add(project.id, tally.counts)
  return { ...persons, refusedGroupTypes }
}

async function recordPersons(
  tx: Stores,
  whole: ProjectEvents,
  events: readonly IncomingEvent[],
  now: Instant,
): Promise<Pick<Recorded, 'merges' | 'refusedProperties'> & Pick<WrittenPersons, 'joinedIn'>> {
  const { project } = whole
  const distinctIds = [...new Set(events.flatMap(distinctIdsIn))]
  const ledger = createPersonLedger(await tx.people.persons.findByDistinctIds(project.id, distinctIds), newUuid)
  const merges = new Map<MergeOutcome, number>()
  for (const event of events) {
    const outcome = applyToLedger(ledger, event)
    if (outcome) merges.set(outcome, (merges.get(outcome) ?? 0) + 1)
  }
  const drafts = ledger.drafts()
  let newIds: ReadonlyMap<string, number> = new Map()
  let joinedIn: readonly number[] = []
  if (drafts.length > 0) {
    // Evaluation skips the person lookup while a project has no persons, so the first one must be announced.
    if ((await tx.people.persons.scan(project.id, 0, 1)).length === 0) await announceProject(tx, project, now)
    const written = await tx.people.persons.write(project.id, drafts)
    joinedIn = written.joinedIn
    newIds = written.idsByUuid
  }
  const personIdOf = (distinctId: string) => {
    const holder = ledger.holderOf(distinctId)
    return holder && (holder.stored?.id ?? newIds.get(holder.uuid))
  }
  await countBehavior(tx, project.id, { all: whole.events, events }, personIdOf, now)
  await tx.people.personRetention.noteSeen(project.id, distinctIds, now)
  return { merges, refusedProperties: ledger.refusedProperties(), joinedIn }
}

/** Returns the number of group types for which no index was free. */
async function recordGroups(
  tx: Stores,
  project: Project,
  events: readonly IncomingEvent[],
  now: Instant,
): Promise<number> {
  const indexes = new Map(Object.entries(project.groupTypes).map(([index, name]) => [name, Number(index)]))
  const groups = events.map(event => ({ group: groupUpdateIn(event), at: event.at }))
  const types = new Set([
    ...events.flatMap(groupTypesIn),
    ...groups.flatMap(({ group }) => (group ? [group.type] : [])),
  ])
  let refused = 0
  let hasNew = false
  for (const type of types) {
    if (indexes.has(type)) continue
    const assigned = await tx.groupTypes.ensure(project.id, type)
    if (assigned) indexes.set(type, assigned.index)
    else refused += 1
    hasNew ||= assigned?.isNew ?? false
  }
  if (hasNew) await announceProject(tx, project, now)
  for (const { group, at } of groups) {
    if (!group) continue
    const typeIndex = indexes.get(group.type)
    if (typeIndex !== undefined)
      await tx.people.groups.update(project.id, { typeIndex, key: group.key }, group.update, at)
  }
  return refused
}
