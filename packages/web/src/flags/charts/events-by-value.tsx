import { type EventCountsByValue, type Flag, routes } from '@halyard/contract'
import { Group, NativeSelect, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { Section } from '../../ui/layout/section.tsx'
import type { Wording } from '../flag-sentences.ts'
import { type RollbackCondition, readRollbackCondition, rollbackSentence } from '../schedule/rollback-condition.ts'
import { ChartPanel } from './chart-panel.tsx'
import { hourlyThreshold } from './hourly-threshold.ts'
import type { RolloutStep } from './rollout-steps.ts'

const hourMilliseconds = 3_600_000
const hoursShown = 7 * 24

interface Props {
  projectId: string
  flag: Flag
  wording: Wording
  steps: readonly RolloutStep[]
}

/** How often an event arrived with each value of the flag, with the steps of the rollout and the rollback thresholds. */
export function EventsByValue({ projectId, flag, wording, steps }: Props) {
  const t = useMessages()
  const call = useCall()
  const conditions = useMemo(() => eventConditions(flag), [flag])
  const [chosen, choose] = useState<string>()
  const event = chosen ?? conditions[0]?.name
  const [to] = useState(() => Math.ceil(Date.now() / hourMilliseconds) * hourMilliseconds)
  const counts = useQuery({
    queryKey: ['event-counts', projectId, 'by value', flag.id, event, to],
    queryFn: ({ signal }) =>
      call(routes.eventCounts.byValue, {
        params: { project_id: projectId, id: String(flag.id) },
        query: {
          ...(event !== undefined && { event }),
          date_from: new Date(to - hoursShown * hourMilliseconds).toISOString(),
          date_to: new Date(to).toISOString(),
        },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
  const names = [...new Set([...(event ? [event] : []), ...(counts.data?.events.map(each => each.event) ?? [])])]
  return (
    <Section
      title={t.charts.events}
      action={
        names.length > 0 && (
          <NativeSelect
            size="xs"
            aria-label={t.charts.event}
            value={event ?? counts.data?.event ?? ''}
            onChange={({ currentTarget }) => choose(currentTarget.value)}
            data={names.map(value => ({ value, label: value === evaluation ? t.timeline.evaluations : value }))}
          />
        )
      }
    >
      <Loaded query={counts}>
        {data => (
          <Counts
            counts={data}
            conditions={conditions.filter(({ name }) => name === data.event)}
            wording={wording}
            steps={steps}
          />
        )}
      </Loaded>
    </Section>
  )
}

const evaluation = '$feature_flag_called'

interface CountsProps {
  counts: EventCountsByValue
  /** Those about the event. */
  conditions: readonly RollbackCondition[]
  wording: Wording
  steps: readonly RolloutStep[]
}

function Counts({ counts, conditions, wording, steps }: CountsProps) {
  const t = useMessages()
  const { count } = useFormats()
  const { from, series, is_counted: isCounted } = counts
  const stamps = useMemo(
    () => Array.from({ length: hoursShown }, (_, n) => new Date(Date.parse(from) + n * hourMilliseconds).toISOString()),
    [from],
  )
  const shown = useMemo(
    () =>
      series.map(({ value, counts: data }) => ({
        label: value,
        data,
        total: data.reduce((sum, each) => sum + each, 0),
      })),
    [series],
  )
  const drawn = conditions.map(condition => ({ condition, perHour: hourlyThreshold(condition) }))
  const key = drawn.map(({ perHour }) => perHour).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key has all the numbers.
  const thresholds = useMemo(() => drawn.flatMap(({ perHour }) => perHour ?? []), [key])
  return (
    <>
      <ChartPanel
        title={t.charts.events}
        stamps={stamps}
        series={shown}
        isHourly
        steps={steps}
        thresholds={thresholds}
        empty={isCounted ? t.charts.noEvents : t.charts.notCounted}
      />
      {drawn.map(({ condition, perHour }) => {
        const sentence = rollbackSentence(condition, wording)
        return (
          <Group key={sentence} gap={4}>
            <Text size="xs">
              {t.rollback.title}: {sentence}
              {perHour !== undefined && ` · ${t.charts.threshold(count(perHour))}`}
            </Text>
          </Group>
        )
      })}
    </>
  )
}

function eventConditions({ rollback_conditions: stored }: Flag): readonly RollbackCondition[] {
  const { conditions } = stored as { conditions?: unknown }
  const read = Array.isArray(conditions) ? conditions.map(readRollbackCondition) : []
  return read.filter(condition => condition?.source === 'events') as readonly RollbackCondition[]
}
