import type { ScheduledChange } from '@halyard/contract'
import { Badge, Button, Group, Text, VisuallyHidden } from '@mantine/core'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { DataTable } from '../../ui/data/data-table.tsx'
import { ConfirmButton } from '../../ui/dialog/confirm-button.tsx'
import { isPaused, recurrenceSentence } from './recurrence.ts'
import { changeSentence, passedSteps, timeOf } from './scheduled-change.ts'
import type { ScheduleWrites } from './use-schedule.ts'

const colors: Record<string, string> = { pending: 'indigo', done: 'green', failed: 'red' }

const stateOf = (change: ScheduledChange): string => (isPaused(change) ? 'paused' : change.status)

/** A line below the main text of a cell. */
const Detail = ({ text }: { text: string | null | undefined }) =>
  text ? (
    <Text size="xs" mt={4}>
      {text}
    </Text>
  ) : null

interface Props {
  changes: readonly ScheduledChange[]
  /** The current rollout percentage of each condition. */
  rollouts: readonly number[]
  canEdit: boolean
  schedule: ScheduleWrites
}

export function ScheduledChangesTable({ changes, rollouts, canEdit, schedule }: Props) {
  const t = useMessages()
  const { day, moment, percent } = useFormats()
  const passedText = (change: ScheduledChange): string | undefined => {
    const passed = passedSteps(change, rollouts)
    return passed.length === 0 ? undefined : t.schedule.passed(passed.map(percent).join(', '))
  }
  return (
    <DataTable
      label={t.schedule.title}
      head={[t.schedule.what, t.schedule.when, t.schedule.state, '']}
      rows={changes.map(change => ({
        key: change.id,
        cells: [
          <span key="change">
            {changeSentence(change, t, percent)}
            <Detail text={passedText(change)} />
          </span>,
          <span key="time">
            {isPaused(change) ? '–' : moment(timeOf(change))}
            <Detail text={recurrenceSentence(change, t, day)} />
          </span>,
          <State key="state" change={change} />,
          canEdit && change.status === 'pending' ? (
            <ChangeActions key="actions" change={change} schedule={schedule} />
          ) : (
            ''
          ),
        ],
      }))}
    />
  )
}

function State({ change }: { change: ScheduledChange }) {
  const t = useMessages()
  const { moment } = useFormats()
  const states: Record<string, string> = t.schedule.states
  return (
    <span>
      <Badge variant="light" color={change.broken_reason ? 'red' : (colors[stateOf(change)] ?? 'gray')}>
        {change.broken_reason ? t.schedule.broken : (states[stateOf(change)] ?? change.status)}
      </Badge>
      <Detail text={change.broken_reason ? t.schedule.brokenHint : null} />
      {change.frozen_until ? (
        <Detail text={t.schedule.frozen(moment(change.frozen_until))} />
      ) : (
        <Detail text={change.failure_reason} />
      )}
    </span>
  )
}

function ChangeActions({ change, schedule }: { change: ScheduledChange; schedule: ScheduleWrites }) {
  const t = useMessages()
  const { moment, percent } = useFormats()
  const { pause, cancel, undoCancel } = schedule
  const sentence = changeSentence(change, t, percent)
  const time = moment(timeOf(change))
  const isPair = change.pair_id !== null
  const pauseLabel = isPair ? t.schedule.pausePair : t.schedule.pause
  const resumeLabel = isPair ? t.schedule.resumePair : t.schedule.resume
  return (
    <Group gap={4}>
      {(change.is_recurring || isPaused(change)) && (
        <Button
          variant="subtle"
          size="compact-sm"
          loading={pause.isPending && pause.variables.id === change.id}
          onClick={() => pause.mutate(change)}
        >
          {change.is_recurring ? pauseLabel : resumeLabel}
          <VisuallyHidden>: {sentence}</VisuallyHidden>
        </Button>
      )}
      <ConfirmButton
        label={t.schedule.cancel}
        cancelLabel={t.schedule.keep}
        of={`${sentence}, ${time}`}
        question={isPair ? t.schedule.cancelPairQuestion(time) : t.schedule.cancelQuestion(time)}
        detail={isPair ? sentence : `${sentence}. ${t.schedule.cancelDetail}`}
        done={t.schedule.canceled(sentence)}
        onConfirm={() => cancel(change.id)}
        onUndo={undoCancel(change)}
      />
    </Group>
  )
}
