import { routes, type ScheduledChange } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useCall } from '../../services/services.ts'

/** When the next scheduled change of each flag is due. */
export type NextChanges = ReadonlyMap<number, string>

function soonestOf(changes: readonly ScheduledChange[]): NextChanges {
  const soonest = new Map<number, string>()
  for (const { record_id, next_attempt_at, scheduled_at } of changes) {
    const at = next_attempt_at ?? scheduled_at
    const id = Number(record_id)
    if (at < (soonest.get(id) ?? '~')) soonest.set(id, at)
  }
  return soonest
}

const none: NextChanges = new Map()
const notedMax = '1000'

export function useNextChanges(projectId: string): NextChanges {
  const call = useCall()
  const scheduled = useQuery({
    queryKey: ['schedules', projectId, 'pending'],
    queryFn: async ({ signal }) => {
      const query = { status: 'pending', limit: notedMax }
      const { results } = await call(routes.scheduledChanges.list, { params: { project_id: projectId }, query, signal })
      return soonestOf(results)
    },
  })
  return scheduled.data ?? none
}
