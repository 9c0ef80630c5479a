import { type AnswerOf, routes } from '@halyard/contract'
import { useQueries } from '@tanstack/react-query'
import { pollMilliseconds } from '../../../services/polling.ts'
import { useCall } from '../../../services/services.ts'
import type { FlagRows } from '../flag-rows.ts'

export type FlagUsage = AnswerOf<typeof routes.flagList.usage>[number]

/** Rows per request; a request is reused while its rows stay on screen. */
const chunkRows = 50

/** Last evaluation, daily evaluations and health of the rows on screen. Evaluations are not streamed. */
export function useFlagUsage(
  projectId: string,
  rows: FlagRows,
  range: { readonly first: number; readonly last: number },
): (flagId: number) => FlagUsage | undefined {
  const call = useCall()
  const chunks = []
  for (let start = range.first - (range.first % chunkRows); start <= range.last; start += chunkRows) {
    const ids = Array.from({ length: chunkRows }, (_, n) => rows.at(start + n)?.id).filter(id => id !== undefined)
    if (ids.length > 0) chunks.push(ids.sort((a, b) => a - b).join())
  }
  const usageById = useQueries({
    queries: chunks.map(ids => ({
      queryKey: ['flag-usage', projectId, ids],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        call(routes.flagList.usage, { params: { project_id: projectId }, query: { ids }, signal }),
      staleTime: pollMilliseconds,
      refetchInterval: pollMilliseconds,
    })),
    combine: results => {
      const byId = new Map<number, FlagUsage>()
      for (const { data } of results) for (const usage of data ?? []) byId.set(usage.id, usage)
      return byId
    },
  })
  return flagId => usageById.get(flagId)
}
