import type { ActivityEntry } from '@halyard/contract'
import { Text } from '@mantine/core'
import type { Messages } from '../../i18n/en.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import type { Wording } from '../flag-sentences.ts'
import { readRollbackCondition, rollbackSentence } from '../schedule/rollback-condition.ts'
import { changeSentence } from '../schedule/scheduled-change.ts'

interface Props {
  entry: ActivityEntry
  wording: Wording
}

type Formats = Pick<ReturnType<typeof useFormats>, 'moment' | 'percent' | 'count'>

/** What was scheduled, or what triggered an automatic change. */
export function TriggerNote({ entry, wording }: Props) {
  const t = useMessages()
  const note = noteOf(entry, t, useFormats(), wording)
  const said = saidOf(entry)
  const mb = entry.detail.changes?.length ? 'sm' : 0
  return (
    <>
      {note !== undefined && (
        <Text size="sm" c="dimmed" mb={mb}>
          {note}
        </Text>
      )}
      {said && (
        <Text size="sm" mb={mb} style={{ overflowWrap: 'anywhere' }} {...(said.isEmergency && { c: 'red' })}>
          {said.isEmergency ? `${t.requests.emergency}: ${said.text}` : said.text}
        </Text>
      )}
    </>
  )
}

function noteOf(
  { detail, activity }: ActivityEntry,
  t: Messages,
  { moment, percent, count }: Formats,
  wording: Wording,
): string | undefined {
  const trigger = (detail.trigger ?? {}) as { job_type?: string; scheduled_at?: string; payload?: object }
  const payload = (trigger.payload ?? {}) as { condition?: unknown; value?: unknown; scheduled_by?: string }
  if (activity === 'scheduled' || activity === 'unscheduled') {
    const what = changeSentence({ payload: payload as never }, t, percent)
    return trigger.scheduled_at === undefined ? what : t.history.planned(what, moment(trigger.scheduled_at))
  }
  if (trigger.job_type === 'scheduled_change' && payload.scheduled_by) {
    return t.history.because.schedule(payload.scheduled_by)
  }
  const condition = trigger.job_type === 'rollback' ? readRollbackCondition(payload.condition) : undefined
  if (!condition) return undefined
  const sentence = rollbackSentence(condition, wording)
  return t.history.because.rollback(
    typeof payload.value === 'number' ? t.history.because.measured(sentence, count(payload.value)) : sentence,
  )
}

/** The words of the user: a note, a reason, or the reason of an emergency. */
function saidOf({ detail, activity }: ActivityEntry): { text: string; isEmergency: boolean } | undefined {
  const { note, reason, emergency } = (detail.trigger ?? {}) as Readonly<Record<string, unknown>>
  const text = [emergency, note, reason].find(said => typeof said === 'string' && said !== '') as string | undefined
  return text === undefined
    ? undefined
    : { text, isEmergency: emergency !== undefined || activity === 'emergency_applied' }
}
