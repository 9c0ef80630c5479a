import { type DashboardTile, routes } from '@halyard/contract'
import { Group, NativeSelect, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import type { TabProps } from '../flag-tabs.ts'
import { UsageChart } from './usage-chart.tsx'

/** Evaluations per day and value. */
export function UsageTab({ flag, project }: TabProps) {
  const t = useMessages()
  const { moment } = useFormats()
  const call = useCall()
  const [range, setRange] = useState('-30d')
  const params = { project_id: String(project.id) }
  const dashboard = useQuery({
    queryKey: ['dashboard', params.project_id, flag.usage_dashboard, range],
    queryFn: ({ signal }) =>
      call(routes.dashboards.get, {
        params: { ...params, id: String(flag.usage_dashboard) },
        query: { date_from: range },
        signal,
      }),
  })
  const status = useQuery({
    queryKey: ['flag-status', params.project_id, flag.id, flag.version],
    queryFn: ({ signal }) => call(routes.flags.status, { params: { ...params, id: String(flag.id) }, signal }),
  })
  return (
    <Stack>
      <Group justify="space-between" align="flex-end">
        <Text size="sm" c="dimmed" mih="1.55em" flex={1} miw={200}>
          {status.data &&
            (status.data.last_called_at ? t.usage.lastCalled(moment(status.data.last_called_at)) : t.usage.neverCalled)}
          {status.data?.status === 'stale' && ` · ${status.data.reason}`}
        </Text>
        <NativeSelect
          aria-label={t.usage.range}
          value={range}
          onChange={event => setRange(event.currentTarget.value)}
          data={[
            { value: '-7d', label: t.usage.days(7) },
            { value: '-30d', label: t.usage.days(30) },
            { value: '-90d', label: t.usage.days(90) },
          ]}
        />
      </Group>
      <Loaded query={dashboard}>
        {({ tiles }) => (
          <>
            {tiles.map(tile => (
              <Tile key={tile.id} tile={tile} />
            ))}
          </>
        )}
      </Loaded>
    </Stack>
  )
}

function Tile({ tile }: { tile: DashboardTile }) {
  const t = useMessages()
  const valueNames: Record<string, string> = t.usage.values
  const { count, day } = useFormats()
  const { metric, days, name } = tile.insight
  const series = useMemo(
    () => tile.insight.series.map(each => ({ ...each, label: valueNames[each.label] ?? each.label })),
    [tile, valueNames],
  )
  const titles: Record<string, string> = t.usage.metrics
  const title = titles[metric] ?? name
  const total = series.reduce((sum, each) => sum + each.total, 0)
  return (
    <Paper withBorder p="md" radius="lg">
      <Title order={2} mb="xs">
        {title}
      </Title>
      {total === 0 ? (
        <Text size="sm" c="dimmed">
          {t.usage.noData}
        </Text>
      ) : (
        <>
          <UsageChart days={days} series={series} label={t.usage.chart(title)} />
          <details>
            <summary>{t.usage.table}</summary>
            <DataTable
              label={title}
              head={[t.usage.day, ...series.map(({ label }) => label)]}
              rows={[
                ...days
                  .map((date, index) => ({
                    key: date,
                    cells: [day(date), ...series.map(({ data }) => count(data[index] ?? 0))],
                  }))
                  .reverse(),
                { key: 'total', cells: [t.usage.total, ...series.map(each => count(each.total))] },
              ]}
            />
          </details>
        </>
      )}
    </Paper>
  )
}
