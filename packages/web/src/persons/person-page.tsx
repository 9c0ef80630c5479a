import { routes } from '@halyard/contract'
import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { FlagResults } from '../flags/explain/flag-results.tsx'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { useCanWrite } from '../services/session-queries.ts'
import { useApiQuery } from '../services/use-api-query.ts'
import { ConfirmButton } from '../ui/dialog/confirm-button.tsx'
import { Loaded } from '../ui/feedback/problems.tsx'
import { Page } from '../ui/layout/page.tsx'
import { PropertyTable } from './property-table.tsx'

export function PersonPage() {
  const t = useMessages()
  const { moment } = useFormats()
  const { projectId, personId } = useParams({ from: '/shell/project/$projectId/persons/$personId' })
  const canRemove = useCanWrite(projectId)
  const call = useCall()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const params = { project_id: projectId, id: personId }
  const person = useApiQuery(['persons', projectId, 'one', personId], routes.persons.get, { params })
  const forget = async () => {
    await call(routes.persons.remove, { params })
    await navigate({ to: '/project/$projectId/persons', params: { projectId } })
    await queries.invalidateQueries({ queryKey: ['persons', projectId] })
  }
  return (
    <Loaded query={person}>
      {({ name, distinct_ids, properties, created_at }) => (
        <Page
          title={name}
          parents={[{ label: t.shell.persons, to: `/project/${projectId}/persons` }]}
          intro={t.persons.firstSeen(moment(created_at))}
          actions={
            canRemove && (
              <ConfirmButton
                label={t.persons.remove}
                question={t.persons.removeQuestion(name)}
                detail={t.persons.removeDetail}
                done={t.persons.removed(name)}
                onConfirm={forget}
              />
            )
          }
        >
          <Stack>
            <Title order={2}>{t.persons.distinctIds}</Title>
            <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
              {distinct_ids.join(', ')}
            </Text>
            <Title order={2}>{t.persons.properties}</Title>
            <PropertyTable properties={properties} />
            <Group justify="space-between">
              <Title order={2}>{t.shell.flags}</Title>
              <Anchor
                component={Link}
                to={`/project/${projectId}/debugger?id=${encodeURIComponent(JSON.stringify(distinct_ids[0] ?? ''))}`}
                size="sm"
              >
                {t.persons.debugFlags(name)}
              </Anchor>
            </Group>
            {distinct_ids[0] !== undefined && (
              <FlagResults projectId={projectId} id={distinct_ids[0]} headingOrder={3} />
            )}
          </Stack>
        </Page>
      )}
    </Loaded>
  )
}
