import { Badge, Button, Stack } from '@mantine/core'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { useCohortList } from '../services/cohort-queries.ts'
import { useCanWrite } from '../services/session-queries.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { Loaded } from '../ui/feedback/problems.tsx'
import { CircleIcon, PlusIcon } from '../ui/icons.tsx'
import { Page } from '../ui/layout/page.tsx'

export function CohortsPage() {
  const t = useMessages()
  const { count, day } = useFormats()
  const { projectId } = useParams({ from: '/shell/project/$projectId/cohorts' })
  const navigate = useNavigate()
  const cohorts = useCohortList(projectId)
  const canCreate = useCanWrite(projectId)
  return (
    <Page
      title={t.shell.cohorts}
      intro={t.cohorts.intro}
      actions={
        canCreate && (
          <Button
            leftSection={<PlusIcon size={16} />}
            onClick={() =>
              navigate({ to: '/project/$projectId/cohorts/$cohortId', params: { projectId, cohortId: 'new' } })
            }
          >
            {t.cohorts.create}
          </Button>
        )
      }
    >
      <Loaded query={cohorts}>
        {all => (
          <Stack>
            {all.length === 0 ? (
              <EmptyState Icon={CircleIcon} title={t.cohorts.none} text={t.cohorts.noneText} />
            ) : (
              <DataTable
                label={t.shell.cohorts}
                head={[t.cohorts.name, t.cohorts.kind, t.cohorts.people, t.flags.columnCreated]}
                rows={all.map(cohort => ({
                  key: cohort.id,
                  cells: [
                    <Link
                      key="name"
                      to="/project/$projectId/cohorts/$cohortId"
                      params={{ projectId, cohortId: String(cohort.id) }}
                    >
                      {cohort.name || `#${cohort.id}`}
                    </Link>,
                    <Badge key="kind" variant="light" color="gray">
                      {cohort.is_static ? t.cohorts.static : t.cohorts.dynamic}
                    </Badge>,
                    cohort.count === null ? '–' : count(cohort.count),
                    day(cohort.created_at),
                  ],
                }))}
              />
            )}
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}
