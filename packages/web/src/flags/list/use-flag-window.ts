import { type FlagSummary, routes } from '@halyard/contract'
import { useQueries } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { useCall } from '../../services/services.ts'
import { type FlagPage, windowKey } from '../flag-cache.ts'
import type { FlagRows } from './flag-rows.ts'

export const windowPageSize = 100
/** For reading all matches: the server's maximum. */
const largePageSize = 1000
const pagesShownMax = 5

type Query = Readonly<Record<string, string | undefined>>

interface Options {
  readonly isEnabled: boolean
  /** The first page of this search, when it is known already. */
  readonly firstPage: FlagPage | undefined
}

interface Shown {
  readonly search: string
  readonly first: number
  readonly last: number
}

/**
 * A list that is too long to load: the server filters and sorts it, and only the pages on screen are loaded. A new
 * search replaces the rows when its first page has arrived.
 */
export function useFlagWindow(projectId: string, query: Query, { isEnabled, firstPage }: Options) {
  const call = useCall()
  const wanted = JSON.stringify(query)
  const [shown, setShown] = useState<Shown>({ search: wanted, first: 0, last: 0 })
  const pages = [
    ...pagesOf(shown).map(page => ({ search: shown.search, page })),
    ...(wanted === shown.search ? [] : [{ search: wanted, page: 0 }]),
  ]
  const results = useQueries({
    queries: pages.map(({ search, page }) => ({
      queryKey: [...windowKey(projectId), search, page],
      queryFn: ({ signal }: { signal: AbortSignal }): Promise<FlagPage> =>
        call(routes.flagList.list, {
          params: { project_id: projectId },
          query: { ...JSON.parse(search), limit: String(windowPageSize), offset: String(page * windowPageSize) },
          signal,
        }),
      enabled: isEnabled,
      ...(search === wanted && page === 0 && firstPage && { initialData: firstPage }),
      staleTime: 30_000,
    })),
  })
  const pageByKey = new Map(pages.map(({ search, page }, index) => [`${search} ${page}`, results[index]?.data]))
  const isNewReady = wanted !== shown.search && pageByKey.get(`${wanted} 0`) !== undefined
  useEffect(() => {
    if (isNewReady) setShown({ search: wanted, first: 0, last: 0 })
  }, [isNewReady, wanted])

  const loaded = pagesOf(shown).map(page => ({
    page,
    data: pageByKey.get(`${shown.search} ${page}`),
  }))
  const count = loaded.find(({ data }) => data)?.data?.count
  const load = useCallback((first: number, last: number) => {
    const next = { first: pageOf(first), last: Math.min(pageOf(last), pageOf(first) + pagesShownMax - 1) }
    setShown(old => (old.first === next.first && old.last === next.last ? old : { ...old, ...next }))
  }, [])
  const readAll = useCallback(async () => {
    const all: FlagSummary[] = []
    for (let total = 1; all.length < total; ) {
      const page = await call(routes.flagList.list, {
        params: { project_id: projectId },
        query: { ...JSON.parse(wanted), limit: String(largePageSize), offset: String(all.length) },
      })
      if (page.results.length === 0) break
      all.push(...page.results)
      total = page.count
    }
    return [...new Map(all.map(flag => [flag.id, flag])).values()]
  }, [call, projectId, wanted])

  const key = loaded.map(({ data }) => data)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` has what is read from `loaded`, in a fixed number of entries.
  const rows = useMemo((): FlagRows => {
    const byPage = new Map(loaded.map(({ page, data }) => [page, data]))
    return {
      search: shown.search,
      count: count ?? 0,
      at: index => byPage.get(pageOf(index))?.results[index % windowPageSize],
      load,
      find: id => loaded.flatMap(({ data }) => data?.results ?? []).find(flag => flag.id === id),
      readAll,
    }
  }, [count, load, readAll, shown, ...padded(key)])
  const failed = results.find(({ error }) => error)
  return {
    rows: isEnabled && count !== undefined ? rows : undefined,
    isStale: wanted !== shown.search,
    error: failed?.error ?? null,
    refetch: () => failed?.refetch(),
  }
}

const pageOf = (index: number): number => Math.floor(Math.max(0, index) / windowPageSize)
/** The first page stays loaded: it knows the number of flags while the page on screen is on its way. */
const pagesOf = ({ first, last }: Shown): number[] => [
  ...new Set([0, ...Array.from({ length: last - first + 1 }, (_, n) => first + n)]),
]
const padded = <T>(values: readonly T[]): (T | undefined)[] =>
  Array.from({ length: pagesShownMax + 1 }, (_, n) => values[n])
