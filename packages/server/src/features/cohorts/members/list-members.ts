import type { Window } from '../../../pagination.ts'
import type { Database, Stores } from '../../../stores.ts'
import type { Scanner } from '../../impact/scan/scanner.ts'
import type { Person } from '../../persons/person.ts'
import type { Cohort } from '../cohort.ts'
import { cohortQuestion } from '../cohort-query.ts'

interface Asked {
  readonly cohort: Cohort
  readonly search: string | undefined
  readonly window: Window
  /** Milliseconds since 1970. */
  readonly now: number
}

export interface Member {
  readonly person: Person
  readonly distinctIds: readonly string[]
}

const distinctIdsShownMax = 100

/** The people in a cohort, newest first: the list of a static one; for a dynamic one everybody is asked until the page is full. */
export async function listMembers(
  database: Database,
  scanner: Scanner,
  asked: Asked,
  signal: AbortSignal,
): Promise<{ readonly members: readonly Member[]; readonly hasMore: boolean }> {
  const { cohort, search, window } = asked
  const oneMore = { ...window, limit: window.limit + 1 }
  const ids = cohort.isStatic
    ? await database.read(tx => tx.cohortMembers.list(cohort.id, search, oneMore))
    : await findDynamic(database, scanner, { ...asked, window: oneMore }, signal)
  const shown = ids.slice(0, window.limit)
  return {
    members: await database.read(tx => readMembers(tx, cohort.projectId, shown)),
    hasMore: ids.length > shown.length,
  }
}

async function findDynamic(
  database: Database,
  scanner: Scanner,
  { cohort, search, window, now }: Asked,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const question = await database.read(tx => cohortQuestion(tx, cohort.projectId, cohort.id))
  if (!question) return []
  const found: number[] = []
  let passed = 0
  await scanner.walk(
    {
      kind: 'walk',
      projectId: cohort.projectId,
      target: { kind: 'persons' },
      questions: [question],
      now,
      descending: true,
      ...(search && { search }),
    },
    signal,
    async ({ on }) => {
      const skipped = Math.max(0, Math.min(on.length, window.offset - passed))
      found.push(...on.slice(skipped, skipped + window.limit - found.length))
      passed += on.length
      return found.length < window.limit
    },
  )
  return found
}

/** Whoever has gone since is left out. */
async function readMembers(tx: Stores, projectId: number, ids: readonly number[]): Promise<Member[]> {
  const distinctIds = await tx.persons.listDistinctIds(ids, distinctIdsShownMax)
  const members: Member[] = []
  for (const id of ids) {
    const person = await tx.persons.find(projectId, id)
    if (person) members.push({ person, distinctIds: distinctIds.get(id) ?? [] })
  }
  return members
}
