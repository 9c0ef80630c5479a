import { evaluatedPropertiesOf, type Person } from '../../domain/person.ts'
import type { Database, Stores } from '../../stores.ts'
import { lookupMillisecondsMax, type StoredSubject, type StoredSubjects, type WantedSubject } from './gather-subject.ts'

/** Looks up persons and groups for evaluation. All I/O of an evaluation is here. */
export function storedSubjects(database: Database): StoredSubjects {
  /** The first anonymous id of a person decides from then on, also when two requests race. */
  async function storeHashKeys(person: Person, flagKeys: readonly string[], hashKey: string) {
    await database.transaction(tx =>
      tx.persons.addHashKeys(
        person.id,
        flagKeys.map(flagKey => ({ flagKey, hashKey })),
      ),
    )
    return database.read(tx => hashKeysOf(tx, [person]))
  }

  return {
    async find(projectId, wanted) {
      // A query that no request waits for any more must not occupy a connection.
      const limits = { statementMillisecondsMax: lookupMillisecondsMax }
      const found = await database.read(tx => lookUp(tx, projectId, wanted), limits)
      const { person, subject, hashKeys } = found
      const unmet = wanted.continuityFlags.filter(key => !hashKeys.has(key))
      const isNew = person !== undefined && wanted.anonDistinctId !== undefined && unmet.length > 0
      const stored = isNew ? await storeHashKeys(person, unmet, wanted.anonDistinctId!) : new Map<string, string>()
      return { ...subject, hashKeyOverrides: Object.fromEntries([...hashKeys, ...stored]) }
    },
  }
}

async function lookUp(tx: Stores, projectId: number, wanted: WantedSubject) {
  const { distinctId, anonDistinctId, groups, staticCohorts, continuityFlags } = wanted
  const isPersonWanted = wanted.personProperties || staticCohorts.length > 0 || continuityFlags.length > 0
  const ids = anonDistinctId === undefined ? [distinctId] : [distinctId, anonDistinctId]
  const persons = isPersonWanted ? await tx.persons.findByDistinctIds(projectId, ids) : new Map<string, Person>()
  const own = persons.get(distinctId)
  const anonymous = anonDistinctId === undefined ? undefined : persons.get(anonDistinctId)
  const known = [anonymous, own].filter(person => person !== undefined)
  const subject: StoredSubject = {
    ...(own && { personId: own.id, personProperties: evaluatedPropertiesOf(own) }),
    ...(groups.length > 0 && { groupProperties: await groupPropertiesOf(tx, projectId, wanted) }),
    staticCohorts: own ? await tx.cohortMembers.holding(own.id, staticCohorts) : new Set<number>(),
  }
  const hashKeys = continuityFlags.length > 0 ? await hashKeysOf(tx, known) : new Map<string, string>()
  return { person: own ?? anonymous, subject, hashKeys }
}

/** Where several persons have a hash key for a flag, the last one counts. */
async function hashKeysOf(tx: Stores, persons: readonly Person[]): Promise<Map<string, string>> {
  const all = await tx.persons.listHashKeys(persons.map(person => person.id))
  const ranked = persons.flatMap(person => all.filter(({ personId }) => personId === person.id))
  return new Map(ranked.map(({ flagKey, hashKey }) => [flagKey, hashKey]))
}

async function groupPropertiesOf(tx: Stores, projectId: number, { groups }: WantedSubject) {
  const found = await tx.groups.findMany(projectId, groups)
  return Object.fromEntries(
    groups.flatMap(({ type, typeIndex, key }) => {
      const group = found.find(candidate => candidate.typeIndex === typeIndex && candidate.key === key)
      return group ? [[type, group.properties]] : []
    }),
  )
}
