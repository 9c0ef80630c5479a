import { type DashboardTile, routes } from '@halyard/contract'
import { Collapse, Group, NativeSelect, Paper, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { DisclosureButton } from '../../ui/layout/disclosure-button.tsx'
import { ValueDistribution } from '../editor/value-distribution.tsx'
import { offColor, onColor, variantColor } from '../editor/variants/variant-colors.ts'
import type { TabProps } from '../flag-tabs.ts'
import { ShadowLine } from './shadow-line.tsx'
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
            <CountedUntil tile={tiles[0]} readAt={dashboard.dataUpdatedAt} />
            {tiles.map(tile => (
              <Tile key={tile.id} tile={tile} />
            ))}
          </>
        )}
      </Loaded>
      <ShadowLine projectId={params.project_id} flagId={flag.id} />
    </Stack>
  )
}

const behindMillisecondsMin = 120_000

/** Only when events that were recorded a while ago are not counted yet. */
function CountedUntil({ tile, readAt }: { tile: DashboardTile | undefined; readAt: number }) {
  const t = useMessages()
  const { moment } = useFormats()
  if (!tile || readAt - Date.parse(tile.last_refresh) < behindMillisecondsMin) return null
  return (
    <Text size="sm" role="status">
      {t.usage.countedUntil(moment(tile.last_refresh))}
    </Text>
  )
}

function Tile({ tile }: { tile: DashboardTile }) {
  const t = useMessages()
  const valueNames: Record<string, string> = t.usage.values
  const { count, day } = useFormats()
  const [isTableOpen, { toggle: toggleTable }] = useDisclosure(false)
  const { metric, days, name } = tile.insight
  const series = useMemo(
    () => withColors(tile.insight.series).map(each => ({ ...each, label: valueNames[each.label] ?? each.label })),
    [tile, valueNames],
  )
  const isToday = (date: string | undefined) => date?.slice(0, 10) === new Date().toISOString().slice(0, 10)
  const isLastPartial = isToday(days.at(-1))
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
          <ValueDistribution
            values={series.map(({ label, color, total: count }) => ({ label, color, count }))}
            total={total}
          />
          <Text size="sm" mb="xs">
            {t.usage.sum(count(total))}
          </Text>
          <UsageChart days={days} series={series} label={t.usage.chart(title)} isLastPartial={isLastPartial} />
          {isLastPartial && (
            <Text size="xs" c="dimmed" mb="xs">
              {t.usage.partial}
            </Text>
          )}
          <DisclosureButton label={t.usage.table} isOpen={isTableOpen} onToggle={toggleTable} />
          <Collapse expanded={isTableOpen}>
            <DataTable
              label={title}
              head={[t.usage.day, ...series.map(({ label }) => label)]}
              rows={[
                ...days
                  .map((date, index) => ({
                    key: date,
                    cells: [
                      isToday(date) ? t.usage.soFar(day(date)) : day(date),
                      ...series.map(({ data }) => count(data[index] ?? 0)),
                    ],
                  }))
                  .reverse(),
                { key: 'total', cells: [t.usage.total, ...series.map(each => count(each.total))] },
              ]}
            />
          </Collapse>
        </>
      )}
    </Paper>
  )
}

/** On and off have fixed colors, off a quiet one; variants get theirs in order. */
function withColors<S extends { readonly label: string }>(series: readonly S[]): (S & { color: string })[] {
  let variants = 0
  return series.map(each => ({
    ...each,
    color: each.label === 'true' ? onColor : each.label === 'false' ? offColor : variantColor(variants++),
  }))
}
