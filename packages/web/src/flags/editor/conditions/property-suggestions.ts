import { routes } from '@halyard/contract'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useCall } from '../../../services/services.ts'

/** Who has the property: events, people, or groups of a type. */
export type PropertySource = 'event' | 'person' | number

const none: readonly string[] = []
const namesMax = '1000'
/** Fetched once: suggestions change slowly. */
const rarely = { staleTime: 5 * 60_000, refetchInterval: false, refetchOnWindowFocus: false, retry: false } as const

export function usePropertyNames(projectId: string, source: PropertySource): readonly string[] {
  const call = useCall()
  const definitions = useQuery({
    ...rarely,
    queryKey: ['definitions', projectId, 'properties', source],
    queryFn: ({ signal }) =>
      call(routes.definitions.listProperties, {
        params: { project_id: projectId },
        query: {
          limit: namesMax,
          ...(typeof source === 'number' ? { type: 'group', group_type_index: String(source) } : { type: source }),
        },
        signal,
      }),
    enabled: projectId !== '',
  }).data
  return useMemo(() => definitions?.results.map(({ name }) => name) ?? none, [definitions])
}

/** Sampled values of a property; none while its name is being typed. */
export function usePropertyValues(projectId: string, source: PropertySource, name: string): readonly string[] {
  const call = useCall()
  const [key] = useDebouncedValue(name, 300)
  const isKnown = usePropertyNames(projectId, source).includes(key)
  const samples = useQuery({
    ...rarely,
    queryKey: ['definitions', projectId, 'values', source, key],
    queryFn: ({ signal }) => {
      const params = { project_id: projectId }
      if (typeof source === 'number') {
        return call(routes.definitions.groupValues, {
          params,
          query: { key, group_type_index: String(source) },
          signal,
        })
      }
      const route = source === 'event' ? routes.definitions.eventValues : routes.definitions.personValues
      return call(route, { params, query: { key }, signal })
    },
    enabled: isKnown,
  }).data
  return useMemo(
    () => (samples && key === name ? samples.map(value => String(value.name)) : none),
    [samples, key, name],
  )
}

/** Names of the events that the project has received; undefined until they are loaded. */
export function useEventNames(projectId: string): readonly string[] | undefined {
  const call = useCall()
  const definitions = useQuery({
    ...rarely,
    queryKey: ['definitions', projectId, 'events'],
    queryFn: ({ signal }) =>
      call(routes.definitions.listEvents, { params: { project_id: projectId }, query: { limit: namesMax }, signal }),
  }).data
  return useMemo(() => definitions?.results.map(({ name }) => name), [definitions])
}
