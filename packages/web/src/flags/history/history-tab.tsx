import { type ActivityEntry, routes } from '@halyard/contract'
import { Badge, SegmentedControl, Stack } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { ActivityCard } from '../../ui/data/activity-card.tsx'
import { LoadMoreList } from '../../ui/data/load-more-list.tsx'
import type { Wording } from '../flag-sentences.ts'
import type { TabProps } from '../flag-tabs.ts'
import { useWording } from '../use-wording.ts'
import { ChangeList, type FieldChange } from './change-list.tsx'
import { TriggerNote } from './trigger-note.tsx'
import { Versions } from './versions.tsx'

const pageSize = 20

export function HistoryTab(props: TabProps) {
  const t = useMessages()
  const { view = 'changes' } = useSearch({ from: '/shell/project/$projectId/flags/$flagId' })
  const navigate = useNavigate()
  const show = (next: string) =>
    navigate({
      to: '/project/$projectId/flags/$flagId',
      params: { projectId: String(props.project.id), flagId: String(props.flag.id) },
      search: { tab: 'history', ...(next === 'versions' && { view: next }) },
    })
  return (
    <Stack>
      <SegmentedControl
        aria-label={t.tabs.history}
        style={{ alignSelf: 'flex-start' }}
        value={view}
        onChange={show}
        data={[
          { value: 'changes', label: t.history.changes },
          { value: 'versions', label: t.history.versions },
        ]}
      />
      {view === 'changes' ? <Changes {...props} /> : <Versions {...props} />}
    </Stack>
  )
}

function Changes(props: TabProps) {
  const { flag, project } = props
  const call = useCall()
  const wording = useWording(props)
  const params = { project_id: String(project.id), id: String(flag.id) }
  const history = useInfiniteQuery({
    queryKey: ['flag-history', params.project_id, params.id],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      call(routes.flags.activity, { params, query: { limit: String(pageSize), offset: String(pageParam) }, signal }),
    getNextPageParam: (last, pages) => (last.next === null ? undefined : pages.length * pageSize),
  })
  return <LoadMoreList query={history}>{entry => <Entry entry={entry} wording={wording} />}</LoadMoreList>
}

/** Derived fields that add only noise. */
const quietFields = new Set(['version', 'rollout_percentage', 'is_simple_flag', 'updated_at'])

interface EntryProps {
  entry: ActivityEntry
  wording: Wording
  /** Set where entries of several flags are listed: each links to its flag. */
  projectId?: string
}

export function Entry({ entry, wording, projectId }: EntryProps) {
  const t = useMessages()
  const verbs: Record<string, string> = t.history.verbs
  const { is_system: isAutomatic } = entry.user as { is_system?: boolean }
  const changes = (entry.detail.changes ?? []).filter(
    (change): change is typeof change & FieldChange => change.field !== null && !quietFields.has(change.field),
  )
  return (
    <ActivityCard
      entry={entry}
      action={
        <>
          {verbs[entry.activity] ?? entry.activity}{' '}
          {projectId === undefined ? (
            <b>{entry.detail.name}</b>
          ) : (
            <>
              <Link to="/project/$projectId/flags/$flagId" params={{ projectId, flagId: entry.item_id }}>
                {entry.detail.name}
              </Link>
              {' · '}
              <Link to="/project/$projectId/activity" params={{ projectId }} search={{ entry: String(entry.id) }}>
                {t.history.permalink}
              </Link>
              {' · '}
              <Link to="/project/$projectId/changes" params={{ projectId }} search={{ at: entry.created_at }}>
                {t.timeline.around}
              </Link>
            </>
          )}
        </>
      }
      badge={
        isAutomatic && (
          <Badge variant="light" color="yellow">
            {t.history.automatic}
          </Badge>
        )
      }
    >
      {(changes.length > 0 || entry.detail.trigger) && (
        <>
          <TriggerNote entry={entry} wording={wording} />
          {changes.length > 0 && <ChangeList changes={changes} wording={wording} />}
        </>
      )}
    </ActivityCard>
  )
}
