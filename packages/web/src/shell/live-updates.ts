import { type Flag, routes } from '@halyard/contract'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Call } from '../api/client.ts'
import { cacheFlags, invalidateFlagLists } from '../flags/flag-cache.ts'
import type { Change } from '../live/change-stream.ts'
import { useCurrentScope } from '../services/current-scope.ts'
import { useServices } from '../services/services.ts'
import { createQueryRefresher } from './refresh-queries.ts'

/** Batches a burst of changes into one lookup. */
const gatherMilliseconds = 50
/** Above this many changed flags the lists are fetched again. */
const flagsLookedUpMax = 60
const requestsAtOnceMax = 6
/** The lists may have been read this long before the stream opened. */
const overlapMilliseconds = 30_000

/** The newest activity id that the lists include. It outlives a visit to another project, as the lists do. */
const positionKey = (projectId: string) => ['live-position', projectId] as const

/** Applies changes from the stream to the cached queries, so that they appear without a reload. */
export function useLiveUpdates(): void {
  const { projectId } = useCurrentScope()
  const queries = useQueryClient()
  const { call, live } = useServices()
  useEffect(() => {
    const lists = createQueryRefresher(queries)
    const stopListening = live.subscribe(message => {
      // An expired key is detected by the next response.
      if (message.kind === 'refused') queries.invalidateQueries({ queryKey: ['me'] })
      else lists.soon(message.kind === 'open' ? undefined : message.change)
    })
    return whileSeen(lists, stopListening)
  }, [live, queries])
  useEffect(() => {
    if (projectId === undefined) return
    const flags = createCatchUp(call, queries, projectId)
    flags.soon()
    const stopListening = live.subscribe(message => {
      if (message.kind === 'open' || (message.kind === 'change' && isAboutFlags(message.change, projectId)))
        flags.soon()
    })
    return whileSeen(flags, stopListening)
  }, [live, projectId, queries, call])
}

/** A hidden tab sends no requests and catches up when it becomes visible. */
function whileSeen(work: { now(): void; stop(): void }, stopListening: () => void): () => void {
  document.addEventListener('visibilitychange', work.now)
  return () => {
    document.removeEventListener('visibilitychange', work.now)
    stopListening()
    work.stop()
  }
}

const isAboutFlags = ({ topic, project }: Change, projectId: string): boolean =>
  (topic === 'flag' || topic === 'cohort') && String(project) === projectId

/** The stream reports that a flag has changed; the project's activity says which one, and only that is fetched. */
function createCatchUp(call: Call, queries: QueryClient, projectId: string) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isRunning = false
  let isWanted = false
  const startedAt = Date.now()
  queries.setQueryDefaults(positionKey(projectId), { gcTime: Number.POSITIVE_INFINITY })

  const soon = () => {
    isWanted = true
    now()
  }
  const now = () => {
    if (isWanted && !document.hidden) timer ??= setTimeout(run, gatherMilliseconds)
  }
  async function run() {
    timer = undefined
    if (isRunning) return
    isRunning = true
    isWanted = false
    try {
      await apply()
    } catch {
      // The next change, or a reconnect, retries.
    }
    isRunning = false
    if (isWanted) soon()
  }
  async function apply() {
    const seen = queries.getQueryData<number>(positionKey(projectId))
    const { results } = await call(routes.flags.projectActivity, {
      params: { project_id: projectId },
      query: { limit: String(flagsLookedUpMax) },
    })
    const news = results.filter(({ id, created_at }) =>
      seen === undefined ? Date.parse(created_at) > startedAt - overlapMilliseconds : id > seen,
    )
    const ids = [...new Set(news.map(entry => entry.item_id))]
    if (news.length === flagsLookedUpMax) await invalidateFlagLists(queries, projectId)
    else cacheFlags(queries, projectId, await fetchFlags(call, projectId, ids))
    queries.setQueryData(positionKey(projectId), results[0]?.id ?? seen ?? 0)
    if (seen !== undefined) await refresh(queries, projectId, ids)
  }
  return { soon, now, stop: () => clearTimeout(timer) }
}

async function fetchFlags(call: Call, projectId: string, ids: readonly string[]): Promise<Flag[]> {
  const waiting = [...ids]
  const found: Flag[] = []
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      found.push(await call(routes.flags.get, { params: { project_id: projectId, id } }))
    }
  }
  await Promise.all(Array.from({ length: Math.min(requestsAtOnceMax, ids.length) }, work))
  return found
}

/** Invalidates visible queries that depend on flags. Without changed flags, a cohort has changed. */
function refresh(queries: QueryClient, projectId: string, flagIds: readonly string[]): Promise<void> {
  const kinds =
    flagIds.length > 0
      ? ['flag-history', 'activity', 'explain', 'schedules', 'related-flags']
      : ['cohorts', 'cohort', 'explain']
  return queries.invalidateQueries({
    predicate: ({ queryKey: [kind, of, flagId] }) =>
      of === projectId && kinds.includes(String(kind)) && (kind !== 'flag-history' || flagIds.includes(String(flagId))),
  })
}
