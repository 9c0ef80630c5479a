import { routes, type Webhook } from '@halyard/contract'
import { Accordion, Badge, Group, Text } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useMessages } from '../i18n/language.tsx'
import { isAdmin } from '../services/permissions.ts'
import { useProject } from '../services/session-queries.ts'
import { useApiQuery } from '../services/use-api-query.ts'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { Loaded } from '../ui/feedback/problems.tsx'
import { Page } from '../ui/layout/page.tsx'
import { NewWebhook } from './new-webhook.tsx'
import { WebhookDetails } from './webhook-details.tsx'

/** The webhooks of a project, each with its delivery log. */
export function WebhooksPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/settings/webhooks' })
  const project = useProject(projectId)
  return (
    <Page title={t.webhooks.title} intro={t.webhooks.intro}>
      {project &&
        (isAdmin(project.effective_membership_level) ? (
          <Webhooks projectId={projectId} />
        ) : (
          <Text>{t.webhooks.adminsOnly}</Text>
        ))}
    </Page>
  )
}

function Webhooks({ projectId }: { projectId: string }) {
  const t = useMessages()
  const webhooks = useApiQuery(['webhooks', projectId], routes.webhooks.list, { params: { project_id: projectId } })
  return (
    <Loaded query={webhooks}>
      {({ results }) => (
        <>
          <NewWebhook projectId={projectId} />
          {results.length === 0 ? (
            <EmptyState title={t.webhooks.none} text={t.webhooks.noneText} />
          ) : (
            <Accordion mt="md" order={2}>
              {results.map(webhook => (
                <Accordion.Item key={webhook.id} value={String(webhook.id)}>
                  <Accordion.Control>
                    <Summary webhook={webhook} />
                  </Accordion.Control>
                  <Accordion.Panel>
                    <WebhookDetails projectId={projectId} webhook={webhook} />
                  </Accordion.Panel>
                </Accordion.Item>
              ))}
            </Accordion>
          )}
        </>
      )}
    </Loaded>
  )
}

function Summary({ webhook }: { webhook: Webhook }) {
  const t = useMessages()
  const { events } = webhook
  return (
    <Group gap="sm">
      <Text fw={600} size="sm">
        {webhook.name}
      </Text>
      <Badge variant="light" color={webhook.enabled ? 'green' : 'gray'}>
        {webhook.enabled ? t.webhooks.enabled : t.webhooks.disabled}
      </Badge>
      <Text size="sm" c="dimmed">
        {events.length === 0 ? t.webhooks.allEvents : t.webhooks.eventCount(events.length)}
      </Text>
    </Group>
  )
}
