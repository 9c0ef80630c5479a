import { type ActivityEntry, routes } from '@halyard/contract'
import { Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { ActivityCard } from '../app/activity-card.tsx'
import { EndlessList } from '../app/endless-list.tsx'
import { useCall } from '../app/services.ts'
import { useMessages } from '../messages/language.tsx'
import { scope } from './plugin-queries.ts'
import { TextDiff } from './text-diff.tsx'

const pageSize = 20

interface Props {
  organizationId: string
  /** Only what happened to this one. */
  pluginId?: number
}

/** What happened to plugins: who did it, and what was before and after. */
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
    <EndlessList query={activity} empty={<Text size="sm">{t.plugins.noActivity}</Text>}>
      {entry => <Entry entry={entry} />}
    </EndlessList>
  )
}

/** What follows from plugin.json and the code, and would only repeat what their lines say. */
const derived = new Set(['config_schema', 'public_jobs', 'capabilities'])
const isFileName = (field: string | null): boolean => field !== null && /\.[A-Za-z0-9]+$/.test(field)

function worthShowing(changes: readonly Change[]): readonly Change[] {
  const isOfFiles = changes.some(({ field }) => isFileName(field))
  return isOfFiles ? changes.filter(({ field }) => field === null || !derived.has(field)) : changes
}

type Change = NonNullable<ActivityEntry['detail']['changes']>[number]

function Entry({ entry }: { entry: ActivityEntry }) {
  const t = useMessages()
  const verbs: Record<string, (plugin: string) => string> = t.plugins.verbs
  const { job_type: job } = (entry.detail.trigger ?? {}) as { job_type?: string }
  const changes = worthShowing(entry.detail.changes ?? [])
  const deed = (verbs[entry.activity] ?? (() => `${entry.activity} ${entry.detail.name}`))(entry.detail.name)
  return (
    <ActivityCard entry={entry} deed={job ? `${deed}: ${job}` : deed}>
      {changes.length > 0 && (
        <Stack gap="sm">
          {changes.map(change => (
            <ShownChange key={change.field} change={change} />
          ))}
        </Stack>
      )}
    </ActivityCard>
  )
}

function ShownChange({ change }: { change: Change }) {
  const t = useMessages()
  const names: Record<string, string> = t.plugins.fields
  return (
    <div>
      {change.field !== null && (
        <Text size="sm" fw={600} mb={4}>
          {names[change.field] ?? change.field}
        </Text>
      )}
      <TextDiff before={textOf(change.before)} after={textOf(change.after)} isCode={isFileName(change.field)} />
    </div>
  )
}

const textOf = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2)
