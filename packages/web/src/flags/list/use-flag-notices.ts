import { routes, type ScheduledChange } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useCall } from '../../services/services.ts'

/** Per-flag notices besides the conditions. */
export interface FlagNotices {
  readonly stale: ReadonlySet<number>
  /** When the next scheduled change is due. */
  readonly nextChange: ReadonlyMap<number, string>
}

function soonestOf(changes: readonly ScheduledChange[]): ReadonlyMap<number, string> {
  const soonest = new Map<number, string>()
  for (const { record_id, next_attempt_at, scheduled_at } of changes) {
    const at = next_attempt_at ?? scheduled_at
    const id = Number(record_id)
    if (at < (soonest.get(id) ?? '~')) soonest.set(id, at)
  }
  return soonest
}

const nothing: FlagNotices = { stale: new Set(), nextChange: new Map() }
const notedMax = '1000'

export function useFlagNotices(projectId: string): FlagNotices {
  const call = useCall()
  const params = { project_id: projectId }
  const stale = useQuery({
    queryKey: ['stale-flags', projectId],
    queryFn: async ({ signal }) => {
      const page = await call(routes.flagList.list, { params, query: { active: 'STALE', limit: notedMax }, signal })
      return new Set(page.results.map(({ id }) => id))
    },
    staleTime: 5 * 60_000,
  })
  const scheduled = useQuery({
    queryKey: ['schedules', projectId, 'pending'],
    queryFn: async ({ signal }) => {
      const query = { status: 'pending', limit: notedMax }
      const { results } = await call(routes.scheduledChanges.list, { params, query, signal })
      return soonestOf(results)
    },
  })
  // Referentially stable: every row depends on it.
  return useMemo(
    () => ({ stale: stale.data ?? nothing.stale, nextChange: scheduled.data ?? nothing.nextChange }),
    [stale.data, scheduled.data],
  )
}
