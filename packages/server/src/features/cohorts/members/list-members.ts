import type { Cohort } from '../../../domain/cohort.ts'
import type { Person } from '../../../domain/person.ts'
import type { Scanner } from '../../../evaluation/scan/scanner.ts'
import type { Window } from '../../../pagination.ts'
import type { Database, PersonStores } from '../../../stores.ts'
import { cohortQuery } from '../cohort-query.ts'

interface MemberQuery {
  readonly cohort: Cohort
  readonly search: string | undefined
  readonly window: Window
  /** Unix time in milliseconds. */
  readonly now: number
}

export interface Member {
  readonly person: Person
  readonly distinctIds: readonly string[]
}

const distinctIdsShownMax = 100

/** The members of a cohort, newest first. For a dynamic cohort, persons are evaluated until the page is full. */
export async function listMembers(
  database: Database,
  scanner: Scanner,
  query: MemberQuery,
  signal: AbortSignal,
): Promise<{ readonly members: readonly Member[]; readonly hasMore: boolean }> {
  const { cohort, search, window } = query
  const oneMore = { ...window, limit: window.limit + 1 }
  const ids = cohort.isStatic
    ? await database.people.read(tx => tx.cohortMembers.list(cohort.projectId, cohort.id, search, oneMore))
    : await findDynamic(database, scanner, { ...query, window: oneMore }, signal)
  const shown = ids.slice(0, window.limit)
  return {
    members: await database.people.read(tx => readMembers(tx, cohort.projectId, shown)),
    hasMore: ids.length > shown.length,
  }
}

async function findDynamic(
  database: Database,
  scanner: Scanner,
  { cohort, search, window, now }: MemberQuery,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const flagQuery = await database.read(tx => cohortQuery(tx, cohort.projectId, cohort.id))
  if (!flagQuery) return []
  const personIds: number[] = []
  let passed = 0
  await scanner.walk(
    {
      kind: 'walk',
      projectId: cohort.projectId,
      target: { kind: 'persons' },
      queries: [flagQuery],
      now,
      descending: true,
      ...(search && { search }),
    },
    signal,
    async ({ on }) => {
      const skipped = Math.max(0, Math.min(on.length, window.offset - passed))
      personIds.push(...on.slice(skipped, skipped + window.limit - personIds.length))
      passed += on.length
      return personIds.length < window.limit
    },
  )
  return personIds
}

/** Skips persons that were removed in the meantime. */
async function readMembers(tx: PersonStores, projectId: number, ids: readonly number[]): Promise<Member[]> {
  const distinctIds = await tx.persons.listDistinctIds(projectId, ids, distinctIdsShownMax)
  const members: Member[] = []
  for (const id of ids) {
    const person = await tx.persons.find(projectId, id)
    if (person) members.push({ person, distinctIds: distinctIds.get(id) ?? [] })
  }
  return members
}
