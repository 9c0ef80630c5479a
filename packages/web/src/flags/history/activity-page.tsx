import { type ActivityEntry, routes } from '@halyard/contract'
import { Button, Group, NativeSelect, TextInput } from '@mantine/core'
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCohorts } from '../../services/cohort-queries.ts'
import { useMembers } from '../../services/member-queries.ts'
import { useCall } from '../../services/services.ts'
import { useProject } from '../../services/session-queries.ts'
import { downloadText, toCsv } from '../../ui/data/csv.ts'
import { LoadMoreList } from '../../ui/data/load-more-list.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { ClockIcon } from '../../ui/icons.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { useFlagKeys } from '../use-flag-keys.ts'
import { useWording } from '../use-wording.ts'
import { type ActivitySearch, activityQuery } from './activity-search.ts'
import { Entry } from './history-tab.tsx'

const pageSize = 30
const exportPageSize = 1000
const exportedMax = 10_000

/** The activity of all flags in the project. */
export function ActivityPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/activity' })
  const search = useSearch({ from: '/shell/project/$projectId/activity' })
  const project = useProject(projectId)
  const call = useCall()
  const activity = useInfiniteQuery({
    queryKey: ['activity', projectId, search],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      call(routes.flags.projectActivity, {
        params: { project_id: projectId },
        query: { ...activityQuery(search), limit: String(pageSize), offset: String(pageParam) },
        signal,
      }),
    getNextPageParam: (last, pages) => (last.next === null ? undefined : pages.length * pageSize),
  })
  const isFiltered = Object.keys(search).length > 0
  const flags = useFlagKeys(projectId, activity.data)
  const wording = useWording({ project: project ?? { group_types: {} }, flags, cohorts: useCohorts(projectId) })
  return (
    <Page
      title={t.shell.activity}
      intro={project?.name}
      actions={
        <>
          <Button
            size="xs"
            variant="default"
            renderRoot={props => <Link {...props} to="/project/$projectId/changes" params={{ projectId }} />}
          >
            {t.timeline.open}
          </Button>
          <Export projectId={projectId} search={search} />
        </>
      }
    >
      <Filters projectId={projectId} organizationId={project?.organization} search={search} />
      <LoadMoreList
        query={activity}
        empty={
          <EmptyState
            Icon={ClockIcon}
            title={isFiltered ? t.history.noMatches : t.history.empty}
            text={isFiltered ? t.history.noMatchesText : t.history.emptyText}
          />
        }
      >
        {entry => <Entry entry={entry} wording={wording} projectId={projectId} />}
      </LoadMoreList>
    </Page>
  )
}

interface FiltersProps {
  projectId: string
  organizationId: string | undefined
  search: ActivitySearch
}

function Filters({ projectId, organizationId, search }: FiltersProps) {
  const t = useMessages()
  const navigate = useNavigate()
  const members = useMembers(organizationId)
  const open = (next: ActivitySearch) =>
    navigate({ to: '/project/$projectId/activity', params: { projectId }, search: next, replace: true })
  const set = (name: keyof ActivitySearch, value: string) => {
    const { [name]: _old, entry: _entry, ...others } = search
    open(value === '' ? others : { ...others, [name]: value })
  }
  return (
    <Group gap="xs" mb="md" align="flex-end" role="group" aria-label={t.shell.activity}>
      <NativeSelect
        size="xs"
        w={150}
        label={t.history.filterUser}
        value={search.user ?? ''}
        onChange={event => set('user', event.currentTarget.value)}
        data={[
          { value: '', label: t.history.anyUser },
          ...(members.data ?? []).map(({ user }) => ({ value: user.uuid, label: user.first_name || user.email })),
        ]}
      />
      <NativeSelect
        size="xs"
        w={150}
        label={t.history.filterKind}
        value={search.kind ?? ''}
        onChange={event => set('kind', event.currentTarget.value)}
        data={[
          { value: '', label: t.history.anyKind },
          ...Object.entries(t.history.kinds).map(([value, label]) => ({ value, label })),
        ]}
      />
      <TextInput
        size="xs"
        w={150}
        type="date"
        label={t.history.filterFrom}
        value={search.from ?? ''}
        onChange={event => set('from', event.currentTarget.value)}
      />
      <TextInput
        size="xs"
        w={150}
        type="date"
        label={t.history.filterTo}
        value={search.to ?? ''}
        onChange={event => set('to', event.currentTarget.value)}
      />
      {Object.keys(search).length > 0 && (
        <Button size="xs" variant="default" onClick={() => open({})}>
          {t.history.clearFilters}
        </Button>
      )}
    </Group>
  )
}

/** Exports what the filters show, page by page, up to a limit. */
function Export({ projectId, search }: { projectId: string; search: ActivitySearch }) {
  const t = useMessages()
  const { count } = useFormats()
  const call = useCall()
  const notify = useNotify()
  const read = useMutation({
    mutationFn: async (format: 'csv' | 'json') => {
      const entries: ActivityEntry[] = []
      let hasMore = true
      while (hasMore && entries.length < exportedMax) {
        const page = await call(routes.flags.projectActivity, {
          params: { project_id: projectId },
          query: { ...activityQuery(search), limit: String(exportPageSize), offset: String(entries.length) },
        })
        entries.push(...page.results)
        hasMore = page.next !== null && page.results.length > 0
      }
      if (format === 'json') downloadText('activity.json', 'application/json', JSON.stringify(entries, null, 2))
      else downloadText('activity.csv', 'text/csv', toCsv(rowsOf(entries)))
      if (hasMore) notify.success({ color: 'gray', message: t.history.exportMax(count(exportedMax)) })
    },
    onError: error => notify.fail(error),
  })
  return (
    <>
      <Button size="xs" variant="default" loading={read.isPending} onClick={() => read.mutate('csv')}>
        {t.history.exportCsv}
      </Button>
      <Button size="xs" variant="default" loading={read.isPending} onClick={() => read.mutate('json')}>
        {t.history.exportJson}
      </Button>
    </>
  )
}

const rowsOf = (entries: readonly ActivityEntry[]): unknown[][] => [
  ['id', 'created_at', 'user', 'activity', 'flag_id', 'flag_key', 'through', 'changes'],
  ...entries.map(({ id, created_at, user, activity, item_id, detail, through }) => [
    id,
    created_at,
    (user as { email?: string }).email ?? '',
    activity,
    item_id,
    detail.name,
    through,
    detail.changes ?? [],
  ]),
]
