import { routes, type ScheduledChange } from '@halyard/contract'
import { Badge, Button, Group, Text, VisuallyHidden } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { isProblem } from '../../api/problem.ts'
import { ApprovalHint } from '../../change-control/gate/approval-hint.tsx'
import { useArePoliciesLoading } from '../../change-control/gate/gate-queries.ts'
import { type SaveMode, saveHeaders } from '../../change-control/gate/save-mode.ts'
import { useRequestedNotice } from '../../change-control/gate/use-requested-notice.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { ConfirmButton } from '../../ui/dialog/confirm-button.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { fieldProblem } from '../../ui/feedback/problem-text.ts'
import { draftOf } from '../editor/draft.ts'
import { Impact } from '../editor/impact.tsx'
import { readFilters } from '../filters.ts'
import type { TabProps } from '../flag-tabs.ts'
import { draftChanges } from '../review/draft-changes.ts'
import { ReviewDialog } from '../review/review-dialog.tsx'
import { useWording } from '../use-wording.ts'
import { AutomationSection } from './automation-section.tsx'
import { isPaused, recurrenceSentence } from './recurrence.ts'
import { ScheduleForm } from './schedule-form.tsx'
import {
  afterPlanned,
  changeSentence,
  type PlannedChange,
  plannedToWire,
  rescheduledToWire,
} from './scheduled-change.ts'

const colors: Record<string, string> = { pending: 'indigo', done: 'green', failed: 'red' }

const isRequested = (error: unknown): boolean => isProblem(error) && error.changeRequest !== undefined

const stateOf = (change: ScheduledChange): string => (isPaused(change) ? 'paused' : change.status)

/** A line below the main text of a cell. */
const Detail = ({ text }: { text: string | null | undefined }) =>
  text ? (
    <Text size="xs" mt={4}>
      {text}
    </Text>
  ) : null

/** The due time, or the time of execution. */
const timeOf = ({ next_attempt_at, executed_at, scheduled_at }: ScheduledChange) =>
  next_attempt_at ?? executed_at ?? scheduled_at

/** All scheduled changes of a flag, including past ones. */
export function useScheduledChanges({ flag, project }: TabProps) {
  const call = useCall()
  const params = { project_id: String(project.id) }
  return useQuery({
    queryKey: ['schedules', params.project_id, flag.id],
    queryFn: async ({ signal }) => {
      const query = { record_id: String(flag.id), limit: '200' }
      return (await call(routes.scheduledChanges.list, { params, query, signal })).results
    },
  })
}

export function ScheduledChanges({ changes, ...known }: TabProps & { changes: readonly ScheduledChange[] }) {
  const { flag, project } = known
  const t = useMessages()
  const { day, moment, percent } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const params = { project_id: String(project.id) }
  const conditions = readFilters(flag.filters).groups
  const refresh = () => queries.invalidateQueries({ queryKey: ['schedules', params.project_id] })
  const sentenceOf = (change: ScheduledChange) => changeSentence(change, t, percent)
  const wording = useWording(known)
  const isLoading = useArePoliciesLoading([String(project.id)])
  const [reviewed, setReviewed] = useState<{ planned: PlannedChange; percentages: readonly number[] }>()
  const before = useMemo(() => draftOf(flag), [flag])
  const after = useMemo(
    () => (reviewed ? afterPlanned(before, reviewed.planned, reviewed.percentages) : before),
    [before, reviewed],
  )
  const announceRequest = useRequestedNotice(params.project_id)
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
    mutationFn: ({ planned, percentages, mode }: NonNullable<typeof reviewed> & { mode: SaveMode }) => {
      const body = { record_id: String(flag.id), ...plannedToWire(planned, percentages) }
      return call(routes.scheduledChanges.create, { params, body, headers: saveHeaders(mode) })
    },
    onSuccess: change => {
      notify.success({
        message: t.schedule.created(sentenceOf(change), moment(timeOf(change))),
        onUndo: () => cancel(change.id).catch(error => notify.fail(error, flag.key)),
      })
      return refresh()
    },
  })
  /** Resuming may need approval, as planning it did. */
  const pause = useMutation({
    mutationFn: ({ id, is_recurring }: ScheduledChange) =>
      call(routes.scheduledChanges.update, {
        params: { ...params, id: String(id) },
        body: { is_recurring: !is_recurring },
      }),
    onSuccess: (change): void => {
      notify.success({
        id: `pause-${change.id}`,
        message: change.is_recurring
          ? t.schedule.resumed(sentenceOf(change))
          : t.schedule.pausedNow(sentenceOf(change)),
        onUndo: (): void => pause.mutate(change),
      })
    },
    onError: announceFailure,
    onSettled: refresh,
  })
  const pauseLabel = ({ is_recurring, pair_id }: ScheduledChange): string => {
    if (pair_id === null) return is_recurring ? t.schedule.pause : t.schedule.resume
    return is_recurring ? t.schedule.pausePair : t.schedule.resumePair
  }
  const atTime = fieldProblem(t, create.error, 'scheduled_at')
  const states: Record<string, string> = t.schedule.states
  const whenOf = (planned: PlannedChange): string => {
    const wire: Readonly<Record<string, unknown>> = plannedToWire(planned, [])
    const repeated = recurrenceSentence(wire, t, day)
    const start = moment(new Date(planned.at).toISOString())
    return repeated === undefined ? start : planned.repeat === 'workdays' ? repeated : `${start} · ${repeated}`
  }
  return (
    <AutomationSection
      title={t.schedule.title}
      intro={t.schedule.intro}
      error={atTime || isRequested(create.error) ? null : create.error}
      form={
        flag.can_edit && (
          <ScheduleForm
            isOn={flag.active}
            rollouts={conditions.map(condition => condition.rollout_percentage ?? 100)}
            timeProblem={atTime}
            onReview={(planned, percentages) => setReviewed({ planned, percentages })}
          />
        )
      }
    >
      {changes.length === 0 ? (
        <Text size="sm">{t.schedule.none}</Text>
      ) : (
        <DataTable
          label={t.schedule.title}
          head={[t.schedule.what, t.schedule.when, t.schedule.state, '']}
          rows={changes.map(change => ({
            key: change.id,
            cells: [
              sentenceOf(change),
              <span key="time">
                {isPaused(change) ? '–' : moment(timeOf(change))}
                <Detail text={recurrenceSentence(change, t, day)} />
              </span>,
              <span key="state">
                <Badge variant="light" color={change.broken_reason ? 'red' : (colors[stateOf(change)] ?? 'gray')}>
                  {change.broken_reason ? t.schedule.broken : (states[stateOf(change)] ?? change.status)}
                </Badge>
                <Detail text={change.broken_reason ? t.schedule.brokenHint : null} />
                {change.frozen_until ? (
                  <Detail text={t.schedule.frozen(moment(change.frozen_until))} />
                ) : (
                  <Detail text={change.failure_reason} />
                )}
              </span>,
              flag.can_edit && change.status === 'pending' ? (
                <Group key="actions" gap={4}>
                  {(change.is_recurring || isPaused(change)) && (
                    <Button
                      variant="subtle"
                      size="compact-sm"
                      loading={pause.isPending && pause.variables.id === change.id}
                      onClick={() => pause.mutate(change)}
                    >
                      {pauseLabel(change)}
                      <VisuallyHidden>: {sentenceOf(change)}</VisuallyHidden>
                    </Button>
                  )}
                  <ConfirmButton
                    label={t.schedule.cancel}
                    cancelLabel={t.schedule.keep}
                    of={`${sentenceOf(change)}, ${moment(timeOf(change))}`}
                    question={change.pair_id === null ? t.schedule.cancelQuestion : t.schedule.cancelPairQuestion}
                    done={t.schedule.canceled(sentenceOf(change))}
                    onConfirm={() => cancel(change.id)}
                    onUndo={undoCancel(change)}
                  />
                </Group>
              ) : (
                ''
              ),
            ],
          }))}
        />
      )}
      {reviewed && (
        <ReviewDialog
          title={t.schedule.review}
          changes={draftChanges(after, before)}
          wording={wording}
          label={t.schedule.create}
          cancelLabel={t.editor.keepEditing}
          isLoading={isLoading}
          onConfirm={mode =>
            create.mutateAsync({ ...reviewed, mode }).catch(error => {
              if (isProblem(error) && error.changeRequest) return announceRequest(error.changeRequest)
              // The field below shows what is wrong with the time.
              if (!isProblem(error) || error.field !== 'scheduled_at') throw error
            })
          }
          onClose={() => setReviewed(undefined)}
        >
          <ApprovalHint projectId={params.project_id} />
          <Text size="sm">{whenOf(reviewed.planned)}</Text>
          <Impact projectId={params.project_id} flagId={flag.id} draft={after} isSound />
        </ReviewDialog>
      )}
    </AutomationSection>
  )
}
