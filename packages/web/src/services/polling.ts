import type { QueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'

/** The shortest steady interval between two requests for the same data. */
export const pollMilliseconds = 30_000
const firstPollMilliseconds = 1000

/** First parts of the query keys. Events change these too often to push each change; everything else is streamed. */
const unstreamedKinds = ['group-types', 'groups', 'persons']

/** Refreshes data without change notifications: at a long interval, and whenever the tab gets the focus. */
export function pollUnstreamedQueries(queries: QueryClient): void {
  for (const kind of unstreamedKinds) {
    queries.setQueryDefaults([kind], { refetchInterval: pollMilliseconds, refetchOnWindowFocus: 'always' })
  }
}

/** Exponential backoff: waits as long as the work has been running, from one second up to the steady interval. */
export const backoffMilliseconds = (runningMilliseconds: number): number =>
  Math.min(pollMilliseconds, Math.max(firstPollMilliseconds, runningMilliseconds))

/** A `refetchInterval` for background work that is not streamed; starts over when `work` changes. */
export function useBackoffInterval(work: unknown): () => number {
  const startedAt = useRef(Date.now())
  // biome-ignore lint/correctness/useExhaustiveDependencies: other work starts over.
  useEffect(() => {
    startedAt.current = Date.now()
  }, [work])
  return useCallback(() => backoffMilliseconds(Date.now() - startedAt.current), [])
}
