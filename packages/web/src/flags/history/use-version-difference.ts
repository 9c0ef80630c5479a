import { routes } from '@halyard/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useCall } from '../../services/services.ts'

interface Pair {
  readonly params: { readonly project_id: string; readonly id: string }
  readonly from: number
  readonly to: number
}

/** What changes from one version of a flag to another. */
export function useVersionDifference({ params, from, to }: Pair) {
  const call = useCall()
  return useQuery({
    queryKey: ['flag-history', params.project_id, params.id, 'compare', from, to],
    queryFn: ({ signal }) =>
      call(routes.flagVersions.get, {
        params: { ...params, version: String(to) },
        query: { compare_to: String(from) },
        signal,
      }),
    // The content below keeps its position while another pair loads.
    placeholderData: keepPreviousData,
  })
}
