import { dayNumber } from '@halyard/engine'
import { batchByKey } from '../../concurrency/batch-by-key.ts'
import type { CountedEvent, FindCountedEvents } from '../../domain/counted-event.ts'
import { evaluatedPropertiesOf, type Person } from '../../domain/person.ts'
import type { Database, PersonStores } from '../../stores.ts'
import {
  isPersonWanted,
  lookupMillisecondsMax,
  type StoredSubject,
  type StoredSubjects,
  type WantedSubject,
} from './gather-subject.ts'

/** Lookups of a project that share a read. */
const batchMax = 64

const storedCountedEvents =
  (database: Database): FindCountedEvents =>
  projectId =>
    database.query(tx => tx.countedEvents.listLive(projectId))

/** Looks up persons and groups for evaluation. All I/O of an evaluation is here. */
export function storedSubjects(
  database: Database,
  findCountedEvents: FindCountedEvents = storedCountedEvents(database),
): StoredSubjects {
  /** The first anonymous id of a person decides from then on, also when two requests race. */
  async function storeHashKeys(person: Person, flagKeys: readonly string[], hashKey: string) {
    await database.people.transaction(tx =>
      tx.persons.addHashKeys(
        person.projectId,
        person.id,
        flagKeys.map(flagKey => ({ flagKey, hashKey })),
      ),
    )
    return database.people.read(tx => hashKeysOf(tx, [person]))
  }

  // A query that no request waits for any more must not occupy a connection.
  const limits = { statementMillisecondsMax: lookupMillisecondsMax }
  const lookUp = batchByKey(batchMax, async (projectId: number, batch: readonly WantedSubject[]) => {
    const isCounting = batch.some(({ events }) => events.length > 0)
    const counted = isCounting ? await findCountedEvents(projectId) : noEvents
    return database.people.read(tx => lookUpAll(tx, projectId, batch, counted), limits)
  })

  return {
    async find(projectId, wanted) {
      const { person, subject, hashKeys } = await lookUp(projectId, wanted)
      const unmet = wanted.continuityFlags.filter(key => !hashKeys.has(key))
      const isNew = person !== undefined && wanted.anonDistinctId !== undefined && unmet.length > 0
      const stored = isNew ? await storeHashKeys(person, unmet, wanted.anonDistinctId!) : new Map<string, string>()
      return { ...subject, hashKeyOverrides: Object.fromEntries([...hashKeys, ...stored]) }
    },
  }
}

const noEvents: ReadonlyMap<string, CountedEvent> = new Map()

interface Lookup {
  /** Who the request is about: the person of its distinct id or, without one, of its anonymous id. */
  readonly person: Person | undefined
  readonly subject: StoredSubject
  readonly hashKeys: ReadonlyMap<string, string>
}

async function lookUpAll(
  tx: PersonStores,
  projectId: number,
  batch: readonly WantedSubject[],
  counted: ReadonlyMap<string, CountedEvent>,
): Promise<Lookup[]> {
  const ids = new Set(batch.filter(isPersonWanted).flatMap(idsOf))
  const persons = await tx.persons.findByDistinctIds(projectId, [...ids])
  const histories = await lookUpEvents(tx, batch, persons, counted)
  const lookups: Lookup[] = []
  for (const wanted of batch) lookups.push(await lookUpOne(tx, projectId, wanted, { persons, histories }))
  return lookups
}

type Histories = Awaited<ReturnType<PersonStores['eventDays']['histories']>>

/** What the persons of the batch have performed, with one read for all. */
async function lookUpEvents(
  tx: PersonStores,
  batch: readonly WantedSubject[],
  persons: ReadonlyMap<string, Person>,
  counted: ReadonlyMap<string, CountedEvent>,
): Promise<Histories> {
  const asking = batch.filter(({ events, distinctId }) => events.length > 0 && persons.has(distinctId))
  if (asking.length === 0) return new Map()
  const names = new Set(asking.flatMap(({ events }) => events))
  const wanted = [...counted.values()].filter(({ name }) => names.has(name))
  const ids = new Set(asking.map(({ distinctId }) => persons.get(distinctId)!.id))
  const days = Math.max(...asking.map(({ eventDays }) => eventDays))
  return tx.eventDays.histories([...ids], wanted, dayNumber(Date.now()) - days)
}

const idsOf = ({ distinctId, anonDistinctId }: WantedSubject): string[] =>
  anonDistinctId === undefined ? [distinctId] : [distinctId, anonDistinctId]

async function lookUpOne(
  tx: PersonStores,
  projectId: number,
  wanted: WantedSubject,
  { persons, histories }: { readonly persons: ReadonlyMap<string, Person>; readonly histories: Histories },
): Promise<Lookup> {
  const { groups, staticCohorts, continuityFlags, events } = wanted
  const [own, anonymous] = isPersonWanted(wanted) ? idsOf(wanted).map(id => persons.get(id)) : []
  const subject: StoredSubject = {
    ...(own && { personId: own.id, personProperties: evaluatedPropertiesOf(own) }),
    ...(groups.length > 0 && { groupProperties: await groupPropertiesOf(tx, projectId, wanted) }),
    staticCohorts: own ? await tx.cohortMembers.holding(own.id, staticCohorts) : new Set<number>(),
    ...(events.length > 0 && { events: (own && histories.get(own.id)) ?? {} }),
  }
  const ranked = [anonymous, own].filter(person => person !== undefined)
  const hashKeys = continuityFlags.length > 0 ? await hashKeysOf(tx, ranked) : new Map<string, string>()
  return { person: own ?? anonymous, subject, hashKeys }
}

/** Where several persons have a hash key for a flag, the last one counts. */
async function hashKeysOf(tx: PersonStores, persons: readonly Person[]): Promise<Map<string, string>> {
  const all = await tx.persons.listHashKeys(persons.map(person => person.id))
  const ranked = persons.flatMap(person => all.filter(({ personId }) => personId === person.id))
  return new Map(ranked.map(({ flagKey, hashKey }) => [flagKey, hashKey]))
}

async function groupPropertiesOf(tx: PersonStores, projectId: number, { groups }: WantedSubject) {
  const stored = await tx.groups.findMany(projectId, groups)
  return Object.fromEntries(
    groups.flatMap(({ type, typeIndex, key }) => {
      const group = stored.find(candidate => candidate.typeIndex === typeIndex && candidate.key === key)
      return group ? [[type, group.properties]] : []
    }),
  )
}
