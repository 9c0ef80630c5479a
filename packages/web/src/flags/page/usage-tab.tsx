import { type DashboardTile, routes } from '@halyard/contract'
import { Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useApiQuery } from '../../services/use-api-query.ts'
import { combineQueries, Loaded } from '../../ui/feedback/problems.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { ChartPanel } from '../charts/chart-panel.tsx'
import { EventsByValue } from '../charts/events-by-value.tsx'
import { type RolloutStep, useRolloutSteps } from '../charts/rollout-steps.ts'
import type { TabProps } from '../flag-tabs.ts'
import { useWording } from '../use-wording.ts'
import { ShadowLine } from './shadow-line.tsx'

/** Evaluations per day and value, and events by value. */
export function UsageTab(props: TabProps) {
  const { flag, project } = props
  const t = useMessages()
  const { moment } = useFormats()
  const [range, setRange] = useState('-30d')
  const params = { project_id: String(project.id) }
  const wording = useWording(props)
  const steps = useRolloutSteps(params.project_id, flag.id)
  const dashboard = useApiQuery(['dashboard', params.project_id, flag.usage_dashboard, range], routes.dashboards.get, {
    params: { ...params, id: String(flag.usage_dashboard) },
    query: { date_from: range },
  })
  const status = useApiQuery(['flag-status', params.project_id, flag.id, flag.version], routes.flags.status, {
    params: { ...params, id: String(flag.id) },
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
      <Loaded query={combineQueries({ dashboard, steps })}>
        {({ dashboard: { tiles }, steps }) => (
          <>
            <CountedUntil tile={tiles[0]} readAt={dashboard.dataUpdatedAt} />
            {tiles.map(tile => (
              <Tile key={tile.id} tile={tile} steps={steps} />
            ))}
            <ShadowLine projectId={params.project_id} flagId={flag.id} />
            <EventsByValue projectId={params.project_id} flag={flag} wording={wording} steps={steps} />
          </>
        )}
      </Loaded>
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

function Tile({ tile, steps }: { tile: DashboardTile; steps: readonly RolloutStep[] }) {
  const t = useMessages()
  const { metric, days, series, name } = tile.insight
  const titles: Record<string, string> = t.usage.metrics
  const title = titles[metric] ?? name
  return (
    <Section title={title}>
      <ChartPanel title={title} stamps={days} series={series} steps={steps} empty={t.usage.noData} />
    </Section>
  )
}
