import { type ActivityEntry, routes } from '@halyard/contract'
import { Alert, Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCohorts } from '../../services/cohort-queries.ts'
import { useProject } from '../../services/session-queries.ts'
import { useApiQuery } from '../../services/use-api-query.ts'
import { combineQueries, Loaded } from '../../ui/feedback/problems.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { Entry } from '../history/history-tab.tsx'
import { useFlagKeys } from '../use-flag-keys.ts'
import { useWording } from '../use-wording.ts'
import { EventLanes } from './event-lanes.tsx'
import { moved, type TimeWindow, toLocalField, toMinute, windowAround, windowMinutes } from './time-window.ts'

const changesMax = 100

/** What changed around a time, on one axis with how often events arrived: for the question "what did we change?". */
export function ChangesPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/changes' })
  const { at } = useSearch({ from: '/shell/project/$projectId/changes' })
  const [opened] = useState(() => toMinute(Date.now()))
  const middle = at ?? opened
  const navigate = useNavigate()
  const open = (next: string) =>
    navigate({ to: '/project/$projectId/changes', params: { projectId }, search: { at: next } })
  return (
    <Page
      title={t.timeline.title}
      intro={t.timeline.intro}
      parents={[{ label: t.shell.activity, to: `/project/${projectId}/activity` }]}
    >
      <Stack>
        <Group align="flex-end">
          <TextInput
            type="datetime-local"
            label={t.timeline.time}
            value={toLocalField(middle)}
            onChange={event => {
              const chosen = Date.parse(event.currentTarget.value)
              if (!Number.isNaN(chosen)) open(toMinute(chosen))
            }}
          />
          <Button variant="default" onClick={() => open(moved(middle, -windowMinutes))}>
            {t.timeline.earlier}
          </Button>
          <Button variant="default" onClick={() => open(moved(middle, windowMinutes))}>
            {t.timeline.later}
          </Button>
          <Button variant="default" onClick={() => open(toMinute(Date.now()))}>
            {t.timeline.now}
          </Button>
        </Group>
        <Around projectId={projectId} middle={middle} />
      </Stack>
    </Page>
  )
}

function useAround(projectId: string, { from, to }: TimeWindow) {
  const params = { project_id: projectId }
  const query = { date_from: from, date_to: to }
  const changes = useApiQuery(['activity', projectId, 'around', from], routes.flags.projectActivity, {
    params,
    query: { ...query, limit: String(changesMax) },
  })
  const counts = useApiQuery(['event-counts', projectId, from], routes.eventCounts.list, { params, query })
  return combineQueries({ changes, counts })
}

function Around({ projectId, middle }: { projectId: string; middle: string }) {
  const t = useMessages()
  const { precise } = useFormats()
  const window = windowAround(middle)
  const around = useAround(projectId, window)
  const project = useProject(projectId)
  const flags = useFlagKeys(projectId, around.data?.changes)
  const wording = useWording({ project: project ?? { group_types: {} }, flags, cohorts: useCohorts(projectId) })
  return (
    <Loaded query={around}>
      {({ changes, counts }) => {
        // Numbered from the oldest, as on the axis.
        const entries = [...(changes.results as ActivityEntry[])].reverse()
        return (
          <>
            <EventLanes counts={counts} window={window} middle={middle} changes={entries} />
            <Title order={2}>{t.timeline.changes(changes.count)}</Title>
            {changes.count > entries.length && <Alert color="yellow">{t.timeline.more(entries.length)}</Alert>}
            {entries.length === 0 && <Text size="sm">{t.timeline.none}</Text>}
            {entries.map((entry, index) => (
              <div key={entry.id}>
                <Text size="xs" c="dimmed" mb={2}>
                  {index + 1} · {precise(entry.created_at)}
                </Text>
                <Entry entry={entry} wording={wording} projectId={projectId} />
              </div>
            ))}
          </>
        )
      }}
    </Loaded>
  )
}
