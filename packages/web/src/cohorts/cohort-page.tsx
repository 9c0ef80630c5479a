import { routes } from '@halyard/contract'
import { Progress, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useFormats, useMessages } from '../i18n/language.tsx'
import type { Cohort } from '../services/cohort-queries.ts'
import { useBackoffInterval } from '../services/polling.ts'
import { useCall } from '../services/services.ts'
import { ConfirmButton } from '../ui/dialog/confirm-button.tsx'
import { Loaded } from '../ui/feedback/problems.tsx'
import { Page } from '../ui/layout/page.tsx'
import { UsedBy } from '../used-by/used-by.tsx'
import { CohortForm } from './cohort-form.tsx'
import { CohortPeople } from './cohort-people.tsx'

/** Counting runs in the background after a cohort is saved. */
const isUnfinished = (cohort: Cohort | undefined): boolean =>
  cohort !== undefined && (cohort.is_calculating || (!cohort.is_static && cohort.count === null))

export function CohortPage() {
  const t = useMessages()
  const { projectId, cohortId } = useParams({ from: '/shell/project/$projectId/cohorts/$cohortId' })
  const isNew = cohortId === 'new'
  const call = useCall()
  const [version, setVersion] = useState<number>()
  const backoff = useBackoffInterval(version)
  const cohort = useQuery({
    queryKey: ['cohort', projectId, cohortId],
    queryFn: ({ signal }) => call(routes.cohorts.get, { params: { project_id: projectId, id: cohortId }, signal }),
    enabled: !isNew,
    refetchInterval: query => (isUnfinished(query.state.data) ? backoff() : false),
  })
  if (cohort.data && cohort.data.version !== version) setVersion(cohort.data.version)
  if (isNew) {
    return (
      <Page title={t.cohorts.create}>
        <CohortForm projectId={projectId} cohort={undefined} />
      </Page>
    )
  }
  return (
    <Loaded query={cohort}>
      {known => (
        <Page
          title={known.name || `#${known.id}`}
          intro={<Size cohort={known} />}
          actions={<DeleteCohort projectId={projectId} cohort={known} />}
        >
          <Stack gap="xl">
            <CohortForm key={known.version} projectId={projectId} cohort={known} />
            <CohortPeople projectId={projectId} cohort={known} />
          </Stack>
        </Page>
      )}
    </Loaded>
  )
}

function Size({ cohort }: { cohort: Cohort }) {
  const t = useMessages()
  const { count } = useFormats()
  if (cohort.is_calculating) {
    const { processed = 0, total = null } = cohort.progress ?? {}
    return (
      <span role="status">
        {t.cohorts.counting}
        {total !== null && (
          <Progress value={(100 * processed) / Math.max(1, total)} aria-label={t.cohorts.counting} mt={4} />
        )}
      </span>
    )
  }
  return <>{cohort.count === null ? t.cohorts.notCounted : t.cohorts.size(count(cohort.count))}</>
}

function DeleteCohort({ projectId, cohort }: { projectId: string; cohort: Cohort }) {
  const t = useMessages()
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
  }
  return (
    <ConfirmButton
      label={t.flags.bulkDelete}
      question={
        <Stack gap="sm">
          <Text>{t.cohorts.deleteQuestion(cohort.name)}</Text>
          <UsedBy projectId={projectId} of={{ cohort: cohort.id }} />
        </Stack>
      }
      done={t.cohorts.deleted(cohort.name)}
      onConfirm={remove}
    />
  )
}
