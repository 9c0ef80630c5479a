import type { ChangeFeed } from '../../storage/changes/changes.ts'
import { InvalidatedCache } from '../../storage/changes/invalidated-cache.ts'
import type { Properties } from './evaluation-request.ts'
import {
  type Draft,
  isPersonWanted,
  type StoredSubject,
  type StoredSubjects,
  type WantedSubject,
} from './gather-subject.ts'

/** A stored person as JSON, which takes a fraction of the memory of an object. */
interface CachedPerson {
  readonly id: number
  readonly properties: string
  readonly staticCohorts: ReadonlySet<number>
  readonly hashKeyOverrides: Readonly<Record<string, string>>
  /** The histories of events as JSON; undefined when none are needed. */
  readonly events?: string
}

interface Caches {
  readonly persons: InvalidatedCache<CachedPerson>
  readonly groups: InvalidatedCache<string>
}

/** About 100,000 persons with ten properties each. */
const personBytesMax = 64 * 1024 * 1024
const groupBytesMax = 8 * 1024 * 1024
/** What an entry takes besides its text. */
const entryBytes = 250

/** In a change of persons: all of them may have changed. */
export const everyPerson = '*'

export const groupEntity = (projectId: number, typeIndex: number, key: string): string =>
  `${projectId}/${typeIndex}/${key}`

/**
 * Keeps stored persons and groups in memory until the change feed reports that they have changed: with the response to a write on this
 * node, shortly afterwards on others. Those that do not exist are looked up each time, so that creating one invalidates nothing.
 */
export function cachedSubjects(
  source: StoredSubjects,
  changes: Pick<ChangeFeed, 'subscribe'>,
): Required<StoredSubjects> & { close(): void } {
  const caches: Caches = {
    persons: new InvalidatedCache<CachedPerson>({
      sizeMax: personBytesMax,
      sizeOf: bytesOf,
      tagOf: ({ id }) => String(id),
    }),
    groups: new InvalidatedCache<string>({ sizeMax: groupBytesMax, sizeOf: text => text.length + entryBytes }),
  }
  const { groups, persons } = caches

  async function loadPerson(projectId: number, wanted: WantedSubject): Promise<CachedPerson | undefined> {
    const alone = { ...wanted, anonDistinctId: undefined, personProperties: true, groups: [] }
    const { personId, personProperties, staticCohorts, hashKeyOverrides, events } = await source.find(projectId, alone)
    if (personId === undefined) return undefined
    return {
      id: personId,
      properties: JSON.stringify(personProperties),
      staticCohorts: staticCohorts ?? new Set(),
      hashKeyOverrides: hashKeyOverrides ?? {},
      ...(events && { events: JSON.stringify(events) }),
    }
  }

  async function loadGroup(projectId: number, wanted: WantedSubject, group: WantedGroup): Promise<string | undefined> {
    const alone = { ...wanted, ...withoutPerson, groups: [group] }
    const properties = (await source.find(projectId, alone)).groupProperties?.[group.type]
    return properties && JSON.stringify(properties)
  }

  const close = changes.subscribe(
    batch => {
      for (const { topic, entityId } of batch) {
        if (topic === 'person' && entityId === everyPerson) persons.clear()
        else if (topic === 'person') for (const id of entityId.split(',')) persons.deleteTag(id)
        else if (topic === 'group') groups.delete(entityId)
      }
    },
    () => {
      persons.clear()
      groups.clear()
    },
  )

  return {
    close,
    findCached(projectId, wanted) {
      const person = isPersonWanted(wanted) ? persons.peek(personKey(projectId, wanted)) : unknownPerson
      if (person === undefined || lacksHashKey(wanted, person)) return undefined
      const texts: string[] = []
      for (const { typeIndex, key } of wanted.groups) {
        const text = groups.peek(groupEntity(projectId, typeIndex, key))
        if (text === undefined) return undefined
        texts.push(text)
      }
      return subjectFrom(wanted, person, texts)
    },
    async find(projectId, wanted) {
      // The first anonymous id of a person is stored, and belongs to another person perhaps.
      if (wanted.continuityFlags.length > 0 && wanted.anonDistinctId !== undefined)
        return source.find(projectId, wanted)
      const [person, ...texts] = await Promise.all([
        isPersonWanted(wanted)
          ? persons.get(personKey(projectId, wanted), () => loadPerson(projectId, wanted))
          : undefined,
        ...wanted.groups.map(group =>
          groups.get(groupEntity(projectId, group.typeIndex, group.key), () => loadGroup(projectId, wanted, group)),
        ),
      ])
      return subjectFrom(wanted, person ?? unknownPerson, texts)
    },
  }
}

type WantedGroup = WantedSubject['groups'][number]

const unknownPerson: Omit<CachedPerson, 'id' | 'properties'> & { readonly id?: number; readonly properties?: string } =
  {
    staticCohorts: new Set(),
    hashKeyOverrides: {},
  }

const withoutPerson = { personProperties: false, staticCohorts: [], continuityFlags: [], events: [] }

/** What was looked up beside the properties depends on the flags of the project. */
const personKey = (projectId: number, wanted: WantedSubject): string => {
  const { distinctId, staticCohorts, continuityFlags, events, eventDays } = wanted
  const counted = events.length > 0 ? `${eventDays} ${JSON.stringify(events)}` : ''
  return `${projectId} ${staticCohorts.join()} ${continuityFlags.length > 0} ${counted} ${distinctId}`
}

/** Then a lookup stores one. */
const lacksHashKey = (
  { anonDistinctId, continuityFlags }: WantedSubject,
  { hashKeyOverrides }: typeof unknownPerson,
): boolean => anonDistinctId !== undefined && continuityFlags.some(key => !Object.hasOwn(hashKeyOverrides, key))

function subjectFrom(
  { groups }: WantedSubject,
  { properties, staticCohorts, hashKeyOverrides, events }: typeof unknownPerson,
  texts: readonly (string | undefined)[],
): StoredSubject {
  const subject: Draft<StoredSubject> = { staticCohorts, hashKeyOverrides }
  if (properties !== undefined) subject.personProperties = JSON.parse(properties) as Properties
  if (events !== undefined) subject.events = JSON.parse(events) as NonNullable<StoredSubject['events']>
  if (groups.length > 0) subject.groupProperties = groupPropertiesOf(groups, texts)
  return subject
}

function groupPropertiesOf(groups: readonly WantedGroup[], texts: readonly (string | undefined)[]) {
  const groupProperties: Record<string, Properties> = {}
  for (const [index, { type }] of groups.entries()) {
    const text = texts[index]
    if (text !== undefined) groupProperties[type] = JSON.parse(text)
  }
  return groupProperties
}

const bytesOf = ({ properties, staticCohorts, hashKeyOverrides, events = '' }: CachedPerson): number =>
  entryBytes + properties.length + events.length + 50 * staticCohorts.size + JSON.stringify(hashKeyOverrides).length
