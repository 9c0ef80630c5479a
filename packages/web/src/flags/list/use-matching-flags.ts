import { useDeferredValue, useMemo } from 'react'
import { useFlags, useFoundFlags } from '../use-flags.ts'
import { appendMissing, type FlagSearch, listOf, searchTexts, selectFlags } from './flag-search.ts'

/** The loaded flags and those that match the filters. Until all are loaded, the server searches too. */
export function useMatchingFlags(projectId: string, search: FlagSearch, text: string) {
  const list = listOf(search)
  const { flags: loaded, total, isComplete, error, refetch } = useFlags(projectId, list)
  // Typing stays responsive: filtering thousands of flags may lag behind.
  const query = useDeferredValue(text)
  const found = useFoundFlags(projectId, list, query, loaded !== undefined && !isComplete)
  const flags = useMemo(() => loaded && appendMissing(loaded, found), [loaded, found])
  const texts = useMemo(() => searchTexts(flags ?? []), [flags])
  const matching = useMemo(
    () => selectFlags(flags ?? [], texts, { ...search, q: query }),
    [flags, texts, search, query],
  )
  return { flags, matching, loadedCount: loaded?.length ?? 0, total, isComplete, error, refetch }
}
