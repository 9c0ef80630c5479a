import type { Freeze, HomeSchedule, ProjectHome } from '@halyard/contract'
import { Progress, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useFreezes } from '../flags/gate/gate-queries.ts'
import { changeSentence, timeOf } from '../flags/schedule/scheduled-change.ts'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { RelativeTime } from '../ui/data/relative-time.tsx'
import { SnowflakeIcon } from '../ui/icons.tsx'
import { Section } from '../ui/layout/section.tsx'
import classes from './home.module.css'
import { More } from './waiting.tsx'

const freezesMax = 3

/** Freezes in force and to come, ramps with their next step, and other scheduled changes. */
export function Running({ projectId, upcoming }: { projectId: string; upcoming: ProjectHome['upcoming'] }) {
  const t = useMessages()
  const freezes = (useFreezes(projectId).data ?? [])
    .filter(({ current_end, next_start }) => current_end !== null || next_start !== null)
    .sort((a, b) => (startOf(a) < startOf(b) ? -1 : 1))
    .slice(0, freezesMax)
  const { count, results } = upcoming
  return (
    <Section title={t.home.running}>
      {freezes.length === 0 && results.length === 0 && (
        <Text size="sm" c="dimmed">
          {t.home.nothingRuns}
        </Text>
      )}
      <ul className={classes.items}>
        {freezes.map(freeze => (
          <FreezeRow key={`freeze ${freeze.id}`} freeze={freeze} />
        ))}
        {results.map(schedule => (
          <ScheduleRow key={schedule.change.id} projectId={projectId} schedule={schedule} />
        ))}
      </ul>
      <More count={count - results.length} />
    </Section>
  )
}

/** Those in force come first. */
const startOf = ({ current_end, next_start }: Freeze): string => (current_end === null ? (next_start ?? '') : '')

function FreezeRow({ freeze: { current_end, next_start, tag, reason } }: { freeze: Freeze }) {
  const t = useMessages()
  const { moment } = useFormats()
  const until = moment(current_end ?? next_start ?? '')
  const text =
    current_end === null
      ? t.home.freezeFrom(until, reason)
      : tag === null
        ? t.freezes.banner(until, reason)
        : t.freezes.bannerTag(tag, until, reason)
  return (
    <li className={classes.row}>
      <SnowflakeIcon size={16} />
      <span className={classes.grow}>{text}</span>
    </li>
  )
}

function ScheduleRow({ projectId, schedule }: { projectId: string; schedule: HomeSchedule }) {
  const t = useMessages()
  const { percent, moment } = useFormats()
  const { flag_id, flag_key, change } = schedule
  const problem = change.broken_reason ?? change.failure_reason
  const steps = stepsOf(change)
  return (
    <li>
      <div className={classes.row}>
        <span className={classes.grow}>
          <Link
            to="/project/$projectId/flags/$flagId"
            params={{ projectId, flagId: String(flag_id) }}
            search={{ tab: 'schedule' }}
          >
            {flag_key}
          </Link>
        </span>
        <Text span size="xs" c="dimmed">
          <RelativeTime instant={timeOf(change)} />
        </Text>
      </div>
      <Text size="xs" c="dimmed">
        {changeSentence(change, t, percent)}
      </Text>
      {steps > 0 && (
        <Progress
          size="sm"
          mt={4}
          value={(change.steps_done / steps) * 100}
          aria-label={t.home.stepsDone(change.steps_done, steps)}
        />
      )}
      {change.frozen_until !== null ? (
        <Text size="xs">{t.schedule.frozen(moment(change.frozen_until))}</Text>
      ) : (
        problem !== null && (
          <Text size="xs" c="red">
            {problem}
          </Text>
        )
      )}
    </li>
  )
}

/** The number of steps of a ramp; 0 for other changes. */
function stepsOf({ payload }: HomeSchedule['change']): number {
  const { value } = payload as { value?: { steps?: readonly unknown[] } }
  return value?.steps?.length ?? 0
}
