import type { ScheduledChange } from '@halyard/contract'
import { Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { isProblem } from '../../api/problem.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { fieldProblem } from '../../ui/feedback/problem-text.ts'
import { draftOf } from '../editor/draft.ts'
import { Impact } from '../editor/impact.tsx'
import { readFilters } from '../filters.ts'
import type { TabProps } from '../flag-tabs.ts'
import { ApprovalHint } from '../gate/approval-hint.tsx'
import { useArePoliciesLoading } from '../gate/gate-queries.ts'
import type { SaveMode } from '../gate/save-mode.ts'
import { draftChanges } from '../review/draft-changes.ts'
import { ReviewDialog } from '../review/review-dialog.tsx'
import { useWording } from '../use-wording.ts'
import { AutomationSection } from './automation-section.tsx'
import { recurrenceSentence } from './recurrence.ts'
import { ScheduleForm } from './schedule-form.tsx'
import { afterPlanned, type PlannedChange, plannedToWire } from './scheduled-change.ts'
import { ScheduledChangesTable } from './scheduled-changes-table.tsx'
import { type Reviewed, useScheduleWrites } from './use-schedule.ts'

const isRequested = (error: unknown): boolean => isProblem(error) && error.changeRequest !== undefined

export function ScheduledChanges({ changes, ...tab }: TabProps & { changes: readonly ScheduledChange[] }) {
  const { flag } = tab
  const t = useMessages()
  // Before the review opens, so that it need not wait.
  const isLoading = useArePoliciesLoading([String(tab.project.id)])
  const schedule = useScheduleWrites(tab, changes)
  const [reviewed, setReviewed] = useState<Reviewed>()
  const rollouts = readFilters(flag.filters).groups.map(condition => condition.rollout_percentage ?? 100)
  const { error } = schedule.create
  const atTime = fieldProblem(t, error, 'scheduled_at')
  return (
    <AutomationSection
      title={t.schedule.title}
      intro={t.schedule.intro}
      error={atTime || isRequested(error) ? null : error}
      form={
        flag.can_edit && (
          <ScheduleForm
            isOn={flag.active}
            rollouts={rollouts}
            timeProblem={atTime}
            onReview={(planned, percentages) => setReviewed({ planned, percentages })}
          />
        )
      }
    >
      {changes.length === 0 ? (
        <Text size="sm">{t.schedule.none}</Text>
      ) : (
        <ScheduledChangesTable changes={changes} rollouts={rollouts} canEdit={flag.can_edit} schedule={schedule} />
      )}
      {reviewed && (
        <ScheduleReview
          {...tab}
          reviewed={reviewed}
          isLoading={isLoading}
          onConfirm={mode => schedule.createReviewed({ ...reviewed, mode })}
          onClose={() => setReviewed(undefined)}
        />
      )}
    </AutomationSection>
  )
}

interface ReviewProps extends TabProps {
  reviewed: Reviewed
  isLoading: boolean
  onConfirm: (mode: SaveMode) => Promise<unknown>
  onClose: () => void
}

/** What the planned change will change, before it is planned. */
function ScheduleReview({ reviewed, isLoading, onConfirm, onClose, ...tab }: ReviewProps) {
  const { flag, project } = tab
  const projectId = String(project.id)
  const t = useMessages()
  const { day, moment } = useFormats()
  const wording = useWording(tab)
  const before = useMemo(() => draftOf(flag), [flag])
  const after = useMemo(() => afterPlanned(before, reviewed.planned, reviewed.percentages), [before, reviewed])
  const whenOf = (planned: PlannedChange): string => {
    const wire: Readonly<Record<string, unknown>> = plannedToWire(planned, [])
    const repeated = recurrenceSentence(wire, t, day)
    const start = moment(new Date(planned.at).toISOString())
    return repeated === undefined ? start : planned.repeat === 'workdays' ? repeated : `${start} · ${repeated}`
  }
  return (
    <ReviewDialog
      title={t.schedule.review}
      changes={draftChanges(after, before)}
      wording={wording}
      label={t.schedule.create}
      cancelLabel={t.editor.keepEditing}
      isLoading={isLoading}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <ApprovalHint projectId={projectId} />
      <Text size="sm">{whenOf(reviewed.planned)}</Text>
      <Impact projectId={projectId} flagId={flag.id} draft={after} isSound />
    </ReviewDialog>
  )
}
