import { type AnswerOf, routes } from '@halyard/contract'
import { Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { UsageChart } from '../../flags/charts/usage-chart.tsx'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { pollMilliseconds } from '../../services/polling.ts'
import { useCall } from '../../services/services.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import type { ConfiguredProps } from '../plugin-tabs.ts'

type Metrics = AnswerOf<typeof routes.pluginConfigs.metrics>
type Hour = Metrics['hours'][number]

const hourMilliseconds = 60 * 60 * 1000
const hoursShown = 24

/** The plugin's metrics of the last 24 hours: totals, chart and table. */
export function MetricsTab({ config, projectId }: ConfiguredProps) {
  const t = useMessages()
  const call = useCall()
  const metrics = useQuery({
    queryKey: ['plugin-metrics', projectId, config.id],
    queryFn: ({ signal }) =>
      call(routes.pluginConfigs.metrics, { params: { project_id: projectId, id: String(config.id) }, signal }),
    refetchInterval: pollMilliseconds,
  })
  return (
    <Stack>
      <Title order={2}>{t.plugins.lastDay}</Title>
      <Loaded query={metrics}>
        {summary => (
          <>
            <Totals metrics={summary} />
            {summary.calls === 0 ? <Text size="sm">{t.plugins.noCalls}</Text> : <Hours hours={summary.hours} />}
          </>
        )}
      </Loaded>
    </Stack>
  )
}

function Totals({ metrics }: { metrics: Metrics }) {
  const t = useMessages()
  const { count, percent } = useFormats()
  const { calls, failures, dropped_events, cpu_seconds, memory_bytes } = metrics
  const well = calls === 0 ? '–' : percent(((calls - failures) / calls) * 100)
  const each = calls === 0 ? '–' : t.plugins.milliseconds(count(rounded((cpu_seconds / calls) * 1000)))
  const facts = [
    [t.plugins.metrics.calls, count(calls)],
    [t.plugins.metrics.failures, count(failures)],
    [t.plugins.metrics.succeeded, well],
    [t.plugins.metrics.dropped, count(dropped_events)],
    [t.plugins.metrics.perCall, each],
    [t.plugins.metrics.cpu, t.plugins.seconds(count(rounded(cpu_seconds)))],
    [t.plugins.metrics.memory, t.plugins.mebibytes(count(rounded(memory_bytes / 1024 / 1024)))],
  ] as const
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} component="dl" m={0}>
      {facts.map(([name, value]) => (
        <Paper key={name} withBorder p="sm" radius="md">
          <Text component="dt" size="xs" c="dimmed">
            {name}
          </Text>
          <Text component="dd" m={0} fw={600} size="lg">
            {value}
          </Text>
        </Paper>
      ))}
    </SimpleGrid>
  )
}

const rounded = (value: number): number => Math.round(value * 100) / 100

function Hours({ hours }: { hours: readonly Hour[] }) {
  const t = useMessages()
  const { count, moment } = useFormats()
  const all = useMemo(() => everyHour(hours), [hours])
  const times = useMemo(() => all.map(({ hour }) => hour), [all])
  const names = t.plugins.metrics
  const series = useMemo(
    () => [
      { label: names.calls, data: all.map(({ calls }) => calls) },
      { label: names.failures, data: all.map(({ failures }) => failures) },
      { label: names.dropped, data: all.map(({ dropped_events }) => dropped_events) },
    ],
    [all, names],
  )
  return (
    <Paper withBorder p="md" radius="lg">
      <Title order={3} mb="xs">
        {t.plugins.byHour}
      </Title>
      <UsageChart days={times} series={series} label={t.usage.chart(t.plugins.byHour)} isHourly />
      <details>
        <summary>{t.usage.table}</summary>
        <DataTable
          label={t.plugins.byHour}
          head={[t.plugins.hour, names.calls, names.failures, names.dropped, names.cpu]}
          rows={all.toReversed().map(each => ({
            key: each.hour,
            cells: [
              moment(each.hour),
              count(each.calls),
              count(each.failures),
              count(each.dropped_events),
              t.plugins.seconds(count(rounded(each.cpu_seconds))),
            ],
          }))}
        />
      </details>
    </Paper>
  )
}

/** The last 24 hours, including hours without calls. */
function everyHour(hours: readonly Hour[]): Hour[] {
  const hourByTime = new Map(hours.map(each => [Date.parse(each.hour), each]))
  const last = Math.floor(Date.now() / hourMilliseconds) * hourMilliseconds
  return Array.from({ length: hoursShown }, (_none, index) => {
    const time = last - (hoursShown - 1 - index) * hourMilliseconds
    const quiet = { calls: 0, failures: 0, dropped_events: 0, cpu_seconds: 0, memory_bytes: 0 }
    return hourByTime.get(time) ?? { hour: new Date(time).toISOString(), ...quiet }
  })
}
