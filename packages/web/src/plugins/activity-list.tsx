import { type ActivityEntry, routes } from '@halyard/contract'
import { Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { ActivityCard } from '../ui/data/activity-card.tsx'
import { LoadMoreList } from '../ui/data/load-more-list.tsx'
import { PluginChanges } from './plugin-changes.tsx'
import { scope } from './plugin-queries.ts'

const pageSize = 20

interface Props {
  organizationId: string
  /** Restricts the list to one plugin. */
  pluginId?: number
}

/** The activity of plugins with diffs. */
export function ActivityList({ organizationId, pluginId }: Props) {
  const t = useMessages()
  const call = useCall()
  const activity = useInfiniteQuery({
    queryKey: ['plugins', organizationId, 'activity', pluginId],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      call(routes.plugins.activity, {
        params: scope(organizationId),
        query: {
          limit: String(pageSize),
          offset: String(pageParam),
          ...(pluginId !== undefined && { plugin: String(pluginId) }),
        },
        signal,
      }),
    getNextPageParam: (last, pages) => (last.next === null ? undefined : pages.length * pageSize),
  })
  return (
    <LoadMoreList query={activity} empty={<Text size="sm">{t.plugins.noActivity}</Text>}>
      {entry => <Entry entry={entry} />}
    </LoadMoreList>
  )
}

function Entry({ entry }: { entry: ActivityEntry }) {
  const t = useMessages()
  const verbs: Record<string, (plugin: string) => string> = t.plugins.verbs
  const { job_type: job } = (entry.detail.trigger ?? {}) as { job_type?: string }
  const changes = entry.detail.changes ?? []
  const action = (verbs[entry.activity] ?? (() => `${entry.activity} ${entry.detail.name}`))(entry.detail.name)
  return (
    <ActivityCard entry={entry} action={job ? `${action}: ${job}` : action}>
      {changes.length > 0 && <PluginChanges changes={changes} />}
    </ActivityCard>
  )
}
