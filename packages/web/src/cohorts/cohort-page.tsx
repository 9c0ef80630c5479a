import { routes } from '@halyard/contract'
import { Button, List, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useFormats, useMessages } from '../i18n/language.tsx'
import type { Cohort } from '../services/cohort-queries.ts'
import { pollMilliseconds } from '../services/polling.ts'
import { useCall } from '../services/services.ts'
import { useCanWrite } from '../services/session-queries.ts'
import { ConfirmDialog } from '../ui/dialog/confirm-dialog.tsx'
import { useNotify } from '../ui/feedback/notify.ts'
import { Loaded } from '../ui/feedback/problems.tsx'
import { ViewOnly } from '../ui/feedback/view-only.tsx'
import { Page } from '../ui/layout/page.tsx'
import { UsedBy, useUsedBy } from '../used-by/used-by.tsx'
import { CohortForm } from './cohort-form.tsx'
import { CohortPeople } from './cohort-people.tsx'

/** Counting runs in the background after a cohort is saved. */
const isUnfinished = (cohort: Cohort | undefined): boolean =>
  cohort !== undefined &&
  (cohort.is_calculating ||
    (!cohort.is_static && cohort.count === null) ||
    cohort.counted_events.some(({ history }) => history !== null && history.percent < 100))

export function CohortPage() {
  const t = useMessages()
  const { projectId, cohortId } = useParams({ from: '/shell/project/$projectId/cohorts/$cohortId' })
  const isNew = cohortId === 'new'
  const canEdit = useCanWrite(projectId)
  const call = useCall()
  const cohort = useQuery({
    queryKey: ['cohort', projectId, cohortId],
    queryFn: ({ signal }) => call(routes.cohorts.get, { params: { project_id: projectId, id: cohortId }, signal }),
    enabled: !isNew,
    // Progress is pushed; a notification can be lost.
    refetchInterval: query => (isUnfinished(query.state.data) ? pollMilliseconds : false),
  })
  const parents = [{ label: t.shell.cohorts, to: `/project/${projectId}/cohorts` }]
  if (isNew) {
    return (
      <Page title={t.cohorts.create} parents={parents}>
        {canEdit ? <CohortForm projectId={projectId} cohort={undefined} /> : <ViewOnly />}
      </Page>
    )
  }
  return (
    <Loaded query={cohort}>
      {loadedCohort => (
        <Page
          title={loadedCohort.name || `#${loadedCohort.id}`}
          parents={parents}
          intro={<Size cohort={loadedCohort} />}
          actions={canEdit && <DeleteCohort projectId={projectId} cohort={loadedCohort} />}
        >
          <Stack gap="xl">
            <fieldset disabled={!canEdit} style={{ border: 0, padding: 0, margin: 0, minWidth: 0 }}>
              <CohortForm key={loadedCohort.version} projectId={projectId} cohort={loadedCohort} />
            </fieldset>
            {loadedCohort.counted_events.length > 0 && <CountedEvents cohort={loadedCohort} />}
            <CohortPeople projectId={projectId} cohort={loadedCohort} canEdit={canEdit} />
          </Stack>
        </Page>
      )}
    </Loaded>
  )
}

/** Since when people's events are known. */
function CountedEvents({ cohort }: { cohort: Cohort }) {
  const t = useMessages().behavior
  const { moment, day, percent } = useFormats()
  const historyOf = ({ history }: Cohort['counted_events'][number]) => {
    if (history === null) return ''
    if (history.percent < 100) return `, ${t.readingHistory(percent(history.percent))}`
    return history.since === null ? '' : `, ${t.historySince(day(`${history.since}T12:00:00Z`))}`
  }
  return (
    <section aria-label={t.countedSince}>
      <Title order={2}>{t.countedSince}</Title>
      <Text size="sm" c="dimmed">
        {t.countedHint}
      </Text>
      <List size="sm">
        {cohort.counted_events.map(counted => (
          <List.Item key={counted.event}>
            {t.since(counted.event, moment(counted.counted_since))}
            {historyOf(counted)}
          </List.Item>
        ))}
      </List>
    </section>
  )
}

function Size({ cohort }: { cohort: Cohort }) {
  const t = useMessages()
  const { count, percent } = useFormats()
  if (cohort.is_calculating) {
    const { processed = 0, total = null } = cohort.progress ?? {}
    return (
      <span role="status">
        {t.cohorts.counting} {total !== null && percent(Math.floor((100 * processed) / Math.max(1, total)))}
      </span>
    )
  }
  return <>{cohort.count === null ? t.cohorts.notCounted : t.cohorts.size(count(cohort.count))}</>
}

interface DeleteProps {
  projectId: string
  cohort: Cohort
}

function DeleteCohort(props: DeleteProps) {
  const t = useMessages()
  const [isAsking, setIsAsking] = useState(false)
  return (
    <>
      <Button variant="subtle" color="red" size="compact-sm" onClick={() => setIsAsking(true)}>
        {t.flags.bulkDelete}
      </Button>
      {isAsking && <DeleteDialog {...props} onClose={() => setIsAsking(false)} />}
    </>
  )
}

function DeleteDialog({ projectId, cohort, onClose }: DeleteProps & { onClose: () => void }) {
  const t = useMessages()
  const notify = useNotify()
  const used = useUsedBy(projectId, { cohort: cohort.id })
  const call = useCall()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const remove = async () => {
    await call(routes.cohorts.update, {
      params: { project_id: projectId, id: String(cohort.id) },
      body: { deleted: true },
    })
    await queries.invalidateQueries({ queryKey: ['cohorts', projectId] })
    await navigate({ to: '/project/$projectId/cohorts', params: { projectId } })
    notify.success({ message: t.cohorts.deleted(cohort.name) })
  }
  return (
    <ConfirmDialog
      question={t.cohorts.deleteQuestion(cohort.name)}
      label={t.flags.bulkDelete}
      isLoading={used.isPending}
      detail={<UsedBy used={used} />}
      onConfirm={remove}
      onClose={onClose}
    />
  )
}
