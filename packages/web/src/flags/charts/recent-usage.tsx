import { type DashboardTile, type Flag, routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { combineQueries, Loaded } from '../../ui/feedback/problems.tsx'
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
  const id = flag.usage_dashboard
  const evaluations = useQuery({
    queryKey: ['dashboard', projectId, id, range, 'calls'],
    queryFn: async ({ signal }) => {
      if (id === null) return null
      const params = { project_id: projectId, id: String(id) }
      const { tiles } = await call(routes.dashboards.get, { params, query: { date_from: range }, signal })
      return tiles.find(({ insight }) => insight.metric === 'calls')?.insight ?? null
    },
  })
  const steps = useRolloutSteps(projectId, flag.id)
  const query = combineQueries({ evaluations: { ...evaluations, data: asLoaded(evaluations.data) }, steps })
  const title = t.usage.metrics.calls
  return (
    <Loaded query={query}>
      {({ evaluations: { insight }, steps }) => (
        <>
          {insight && (
            <Section title={title}>
              <ChartPanel
                title={title}
                stamps={insight.days}
                series={insight.series}
                steps={steps}
                empty={t.usage.noData}
              />
            </Section>
          )}
          <EventsByValue projectId={projectId} flag={flag} wording={wording} steps={steps} />
        </>
      )}
    </Loaded>
  )
}

type Insight = DashboardTile['insight']

/** A flag without a dashboard has none. */
const asLoaded = (insight: Insight | null | undefined) => (insight === undefined ? undefined : { insight })
