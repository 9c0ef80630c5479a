import { type ActivityEntry, routes } from '@halyard/contract'
import { Avatar, Badge, Button, Group, Paper, SegmentedControl, Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Loaded } from '../app/problems.tsx'
import { useCall } from '../app/services.ts'
import { useFormats, useMessages } from '../messages/language.tsx'
import { ChangeList, type FieldChange } from './change-list.tsx'
import type { TabProps } from './flag-tabs.ts'
import { useWording } from './use-wording.ts'
import { Versions } from './versions.tsx'
import type { Wording } from './words.ts'

const pageSize = 20

export function HistoryTab(props: TabProps) {
  const t = useMessages()
  const [shown, setShown] = useState('changes')
  return (
    <Stack>
      <SegmentedControl
        aria-label={t.tabs.history}
        style={{ alignSelf: 'flex-start' }}
        value={shown}
        onChange={setShown}
        data={[
          { value: 'changes', label: t.history.changes },
          { value: 'versions', label: t.history.versions },
        ]}
      />
      {shown === 'changes' ? <Changes {...props} /> : <Versions {...props} />}
    </Stack>
  )
}

function Changes(props: TabProps) {
  const { flag, project } = props
  const t = useMessages()
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
  return (
    <Loaded query={history}>
      {({ pages }) => (
        <Stack>
          {pages
            .flatMap(page => page.results)
            .map(entry => (
              <Entry key={entry.id} entry={entry} wording={wording} />
            ))}
          {history.hasNextPage && (
            <Button variant="default" onClick={() => history.fetchNextPage()} loading={history.isFetchingNextPage}>
              {t.history.more}
            </Button>
          )}
        </Stack>
      )}
    </Loaded>
  )
}

/** Fields that follow from others and only make noise. */
const quietFields = new Set(['version', 'rollout_percentage', 'is_simple_flag', 'updated_at'])

interface EntryProps {
  entry: ActivityEntry
  wording: Wording
  /** Given where entries of several flags stand together: then each leads to its flag. */
  projectId?: string
}

export function Entry({ entry, wording, projectId }: EntryProps) {
  const t = useMessages()
  const { moment } = useFormats()
  const { first_name: name } = entry.user as { first_name?: string }
  const verbs: Record<string, string> = t.history.verbs
  const changes = (entry.detail.changes ?? []).filter(
    (change): change is typeof change & FieldChange => change.field !== null && !quietFields.has(change.field),
  )
  return (
    <Paper withBorder p="md" radius="lg" component="article">
      <Group gap="sm" mb={changes.length > 0 ? 'sm' : 0} wrap="nowrap" align="flex-start">
        <Avatar size={28} radius="xl" color="indigo" name={name ?? ''} aria-hidden="true" />
        <div style={{ flex: 1, minWidth: 0 }}>
          <Text size="sm">
            <b>{name}</b> {verbs[entry.activity] ?? entry.activity}{' '}
            {projectId === undefined ? (
              <b>{entry.detail.name}</b>
            ) : (
              <Link to="/project/$projectId/flags/$flagId" params={{ projectId, flagId: entry.item_id }}>
                {entry.detail.name}
              </Link>
            )}
          </Text>
          <Text size="xs" c="dimmed">
            <time dateTime={entry.created_at}>{moment(entry.created_at)}</time>
            {entry.through && ` · ${t.history.through(entry.through)}`}
          </Text>
        </div>
        {entry.detail.trigger && (
          <Badge variant="light" color="yellow">
            {t.history.automatic}
          </Badge>
        )}
      </Group>
      <ChangeList changes={changes} wording={wording} />
    </Paper>
  )
}
