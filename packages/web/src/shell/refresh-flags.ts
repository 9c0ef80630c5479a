import { type Flag, routes } from '@halyard/contract'
import type { QueryClient, QueryKey } from '@tanstack/react-query'
import type { Call } from '../api/client.ts'
import { cacheFlags, flagListKinds } from '../flags/flag-cache.ts'
import type { Change } from '../live/change-stream.ts'

/** Batches a burst of changes into one lookup. */
const gatherMilliseconds = 50
/** Above this many changed flags the lists are fetched again. */
const flagsLookedUpMax = 60
const requestsAtOnceMax = 6

/** What depends on the flags of a project, besides the flags themselves. */
const kindsOfFlags = ['home', 'activity', 'explain', 'schedules', 'related-flags']
const kindsOfCohorts = ['cohorts', 'cohort', 'cohort-people', 'explain']
const allKinds = [...flagListKinds, 'flag', 'flag-history', ...kindsOfFlags, ...kindsOfCohorts]

interface Stale {
  /** Changes were missed. */
  isEverything: boolean
  /** Ids of changed flags, by project. */
  readonly flags: Map<string, Set<string>>
  readonly cohorts: Set<string>
}

const nothingStale = (): Stale => ({ isEverything: false, flags: new Map(), cohorts: new Set() })

/** Fetches the flags that have changed, one by one while they are few, and invalidates what depends on them. */
export function createFlagRefresher(call: Call, queries: QueryClient) {
  let stale = nothingStale()
  let isWanted = false
  let isRunning = false
  let timer: ReturnType<typeof setTimeout> | undefined

  const now = () => {
    if (isWanted && !isRunning && !document.hidden) timer ??= setTimeout(run, gatherMilliseconds)
  }
  async function run() {
    timer = undefined
    const { isEverything, flags, cohorts } = stale
    stale = nothingStale()
    isWanted = false
    isRunning = true
    if (isEverything) invalidate(queries, ([kind]) => allKinds.includes(String(kind)))
    else {
      for (const projectId of cohorts) invalidateKinds(queries, projectId, kindsOfCohorts)
      for (const [projectId, ids] of flags) await refresh(call, queries, projectId, [...ids])
    }
    isRunning = false
    now()
  }
  return {
    /** Without a change: everything is invalidated. */
    soon(change: Change | undefined) {
      if (!change) stale.isEverything = true
      else if (change.project === null || (change.topic !== 'flag' && change.topic !== 'cohort')) return
      else if (change.topic === 'cohort') stale.cohorts.add(String(change.project))
      else {
        const projectId = String(change.project)
        stale.flags.set(projectId, (stale.flags.get(projectId) ?? new Set()).add(change.id))
      }
      isWanted = true
      now()
    },
    now,
    stop: () => clearTimeout(timer),
  }
}

async function refresh(call: Call, queries: QueryClient, projectId: string, ids: readonly string[]): Promise<void> {
  const isLookedUp = ids.length <= flagsLookedUpMax && isShown(queries, projectId)
  const flags = isLookedUp ? await fetchFlags(call, projectId, ids).catch(() => undefined) : undefined
  if (flags) cacheFlags(queries, projectId, flags)
  else invalidateKinds(queries, projectId, [...flagListKinds, 'flag'])
  invalidateKinds(queries, projectId, kindsOfFlags)
  invalidate(
    queries,
    ([kind, of, flagId]) => kind === 'flag-history' && of === projectId && ids.includes(String(flagId)),
  )
}

/** Whether a page shows flags of the project. Otherwise they are fetched when a page does. */
const isShown = (queries: QueryClient, projectId: string): boolean =>
  queries.getQueryCache().findAll({
    type: 'active',
    predicate: ({ queryKey: [kind, of] }) => of === projectId && [...flagListKinds, 'flag'].includes(String(kind)),
  }).length > 0

const invalidate = (queries: QueryClient, isAffected: (key: QueryKey) => boolean): Promise<void> =>
  queries.invalidateQueries({ predicate: ({ queryKey }) => isAffected(queryKey) })

const invalidateKinds = (queries: QueryClient, projectId: string, kinds: readonly string[]): Promise<void> =>
  invalidate(queries, ([kind, of]) => of === projectId && kinds.includes(String(kind)))

async function fetchFlags(call: Call, projectId: string, ids: readonly string[]): Promise<Flag[]> {
  const waiting = [...ids]
  const flags: Flag[] = []
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      flags.push(await call(routes.flags.get, { params: { project_id: projectId, id } }))
    }
  }
  await Promise.all(Array.from({ length: Math.min(requestsAtOnceMax, ids.length) }, work))
  return flags
}
