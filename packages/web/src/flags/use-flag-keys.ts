import { routes } from '@halyard/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useCall } from '../services/services.ts'

interface KnownFlag {
  readonly id: number
  readonly key: string
}

const idsMax = 500
const none: readonly KnownFlag[] = []

/** The keys of the flags that some filters refer to, wherever in the data they are. */
export function useFlagKeys(projectId: string, data: unknown): readonly KnownFlag[] {
  const call = useCall()
  const ids = useMemo(() => [...referencedFlags(data)].slice(0, idsMax).sort((a, b) => a - b), [data])
  const keys = useQuery({
    queryKey: ['flag-keys', projectId, ids.join()],
    queryFn: async ({ signal }) => {
      const { keys } = await call(routes.flagBulk.keys, { params: { project_id: projectId }, body: { ids }, signal })
      return Object.entries(keys).map(([id, key]) => ({ id: Number(id), key }))
    },
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
  })
  return keys.data ?? none
}

/** Ids in filters of the form `{ type: 'flag', key: '12' }`. */
export function referencedFlags(data: unknown): Set<number> {
  const flagIds = new Set<number>()
  const waiting: unknown[] = [data]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (typeof value !== 'object' || value === null) continue
    const { type, key } = value as { type?: unknown; key?: unknown }
    if (type === 'flag' && /^\d{1,15}$/.test(String(key))) flagIds.add(Number(key))
    for (const part of Object.values(value)) waiting.push(part)
  }
  return flagIds
}
