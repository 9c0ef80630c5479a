import { useDeferredValue, useMemo } from 'react'
import { useFlags } from '../use-flags.ts'
import { type FlagRows, rowsInMemory } from './flag-rows.ts'
import { type FlagSearch, listOf, searchTexts, selectFlags, serverQuery } from './flag-search.ts'
import { useFlagWindow } from './use-flag-window.ts'

/**
 * The flags that match the filters. A short list is searched and sorted here, at once; the server does it for a long
 * one, and for what only the server knows.
 */
export function useMatchingFlags(projectId: string, search: FlagSearch, text: string) {
  const { flags, firstPage, total, isComplete, isLong, error, refetch } = useFlags(projectId, listOf(search))
  // Typing stays responsive: filtering may lag behind.
  const query = useDeferredValue(text)
  const isOnServer = isLong || search.sort === 'called' || search.sort === '-called' || search.favorite === true
  const texts = useMemo(() => searchTexts(flags ?? []), [flags])
  const matching = useMemo(
    () => (isOnServer ? [] : selectFlags(flags ?? [], texts, { ...search, q: query })),
    [isOnServer, flags, texts, search, query],
  )
  const inMemory = useMemo(() => rowsInMemory(matching), [matching])
  // The URL follows the text after a pause, so a request is not sent for each letter.
  const onServer = useFlagWindow(projectId, serverQuery(search), {
    isEnabled: isOnServer,
    firstPage: isLong && Object.keys(search).length === 0 ? firstPage : undefined,
  })
  const rows: FlagRows | undefined = isOnServer ? onServer.rows : flags && inMemory
  return {
    rows,
    total,
    isComplete: isOnServer ? !onServer.isStale && (search.q ?? '') === text : isComplete,
    error: error ?? onServer.error,
    refetch: error ? refetch : onServer.refetch,
  }
}
