import type { RequestOf, Route } from '@halyard/contract'
import { type QueryKey, useQuery } from '@tanstack/react-query'
import type { CallInput } from '../api/client.ts'
import { useCall } from './services.ts'

/** What a route of the contract returns. A query with options of its own takes `useQuery`. */
export function useApiQuery<R extends Route>(queryKey: QueryKey, route: R, request: RequestOf<R>) {
  const call = useCall()
  return useQuery({ queryKey, queryFn: ({ signal }) => call(route, { ...request, signal } as CallInput<R>) })
}
