import { routes, type ScheduledChange } from '@halyard/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { isProblem } from '../../api/problem.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import type { TabProps } from '../flag-tabs.ts'
import { type SaveMode, saveHeaders } from '../gate/save-mode.ts'
import { useRequestedNotice } from '../gate/use-requested-notice.ts'
import { changeSentence, type PlannedChange, plannedToWire, rescheduledToWire, timeOf } from './scheduled-change.ts'

/** All scheduled changes of a flag, including past ones. */
export function useScheduledChanges(projectId: string, flagId: number | undefined) {
  const call = useCall()
  return useQuery({
    queryKey: ['schedules', projectId, flagId],
    queryFn: async ({ signal }) => {
      const query = { record_id: String(flagId), limit: '200' }
      return (await call(routes.scheduledChanges.list, { params: { project_id: projectId }, query, signal })).results
    },
    enabled: flagId !== undefined,
  })
}

/** A planned change, with the rollout percentages of its steps or conditions. */
export interface Reviewed {
  readonly planned: PlannedChange
  readonly percentages: readonly number[]
}

export type ScheduleWrites = ReturnType<typeof useScheduleWrites>

/** Plans, pauses and cancels the changes of a flag. */
export function useScheduleWrites({ flag, project }: TabProps, changes: readonly ScheduledChange[]) {
  const t = useMessages()
  const { moment, percent } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const params = { project_id: String(project.id) }
  const announceRequest = useRequestedNotice(params.project_id)
  const refresh = () => queries.invalidateQueries({ queryKey: ['schedules', params.project_id] })
  const cancel = async (id: number) => {
    await call(routes.scheduledChanges.remove, { params: { ...params, id: String(id) } })
    await refresh()
  }
  /** What may need approval again, as planning it did. */
  const announceFailure = (error: unknown) => {
    if (isProblem(error) && error.changeRequest) announceRequest(error.changeRequest)
    else notify.fail(error, flag.key)
  }
  const undoCancel = (change: ScheduledChange) => {
    const partner = changes.find(
      ({ id, pair_id, status }) => id !== change.id && pair_id === change.pair_id && status === 'pending',
    )
    const body = rescheduledToWire(change, change.pair_id === null ? undefined : partner)
    if (!body) return undefined
    return () => call(routes.scheduledChanges.create, { params, body }).then(refresh, announceFailure)
  }
  const create = useMutation({
    mutationFn: ({ planned, percentages, mode }: Reviewed & { mode: SaveMode }) => {
      const body = { record_id: String(flag.id), ...plannedToWire(planned, percentages) }
      return call(routes.scheduledChanges.create, { params, body, headers: saveHeaders(mode) })
    },
    onSuccess: change => {
      notify.success({
        message: t.schedule.created(changeSentence(change, t, percent), moment(timeOf(change))),
        onUndo: () => cancel(change.id).catch(error => notify.fail(error, flag.key)),
      })
      return refresh()
    },
  })
  const createReviewed = (reviewed: Reviewed & { mode: SaveMode }) =>
    create.mutateAsync(reviewed).catch(error => {
      if (isProblem(error) && error.changeRequest) return announceRequest(error.changeRequest)
      // The form shows what is wrong with the time.
      if (!isProblem(error) || error.field !== 'scheduled_at') throw error
    })
  return { create, createReviewed, cancel, undoCancel, pause: usePause(params.project_id, refresh, announceFailure) }
}

function usePause(projectId: string, refresh: () => unknown, onError: (error: unknown) => void) {
  const t = useMessages()
  const { percent } = useFormats()
  const call = useCall()
  const notify = useNotify()
  /** Resuming may need approval, as planning it did. */
  const pause = useMutation({
    mutationFn: ({ id, is_recurring }: ScheduledChange) =>
      call(routes.scheduledChanges.update, {
        params: { project_id: projectId, id: String(id) },
        body: { is_recurring: !is_recurring },
      }),
    onSuccess: (change): void => {
      notify.success({
        id: `pause-${change.id}`,
        message: change.is_recurring
          ? t.schedule.resumed(changeSentence(change, t, percent))
          : t.schedule.pausedNow(changeSentence(change, t, percent)),
        onUndo: (): void => pause.mutate(change),
      })
    },
    onError,
    onSettled: refresh,
  })
  return pause
}
