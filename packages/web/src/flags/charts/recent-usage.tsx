import { type Flag, routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { Section } from '../../ui/layout/section.tsx'
import type { Wording } from '../flag-sentences.ts'
import { ChartPanel } from './chart-panel.tsx'
import { EventsByValue } from './events-by-value.tsx'
import { useRolloutSteps } from './rollout-steps.ts'

const range = '-7d'

interface Props {
  projectId: string
  flag: Flag
  wording: Wording
}

/** How the flag did in the last week: evaluations and events by value, where its next step is decided. */
export function RecentUsage({ projectId, flag, wording }: Props) {
  const t = useMessages()
  const call = useCall()
  const steps = useRolloutSteps(projectId, flag.id)
  const dashboard = useQuery({
    queryKey: ['dashboard', projectId, flag.usage_dashboard, range],
    queryFn: ({ signal }) =>
      call(routes.dashboards.get, {
        params: { project_id: projectId, id: String(flag.usage_dashboard) },
        query: { date_from: range },
        signal,
      }),
    enabled: flag.usage_dashboard !== null,
  })
  return (
    <>
      {flag.usage_dashboard !== null && (
        <Section title={t.usage.metrics.calls}>
          <Loaded query={dashboard}>
            {({ tiles }) => {
              const { days = [], series = [] } = tiles.find(({ insight }) => insight.metric === 'calls')?.insight ?? {}
              return (
                <ChartPanel
                  title={t.usage.metrics.calls}
                  stamps={days}
                  series={series}
                  steps={steps}
                  empty={t.usage.noData}
                />
              )
            }}
          </Loaded>
        </Section>
      )}
      <EventsByValue projectId={projectId} flag={flag} wording={wording} steps={steps} />
    </>
  )
}
