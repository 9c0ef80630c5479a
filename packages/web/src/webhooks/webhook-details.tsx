import { routes, type Webhook } from '@halyard/contract'
import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { OneTimeSecret } from '../ui/data/one-time-secret.tsx'
import { ConfirmButton } from '../ui/dialog/confirm-button.tsx'
import { useNotify } from '../ui/feedback/notify.ts'
import { ProblemAlert } from '../ui/feedback/problems.tsx'
import { DeliveryLog } from './delivery-log.tsx'

export function WebhookDetails({ projectId, webhook }: { projectId: string; webhook: Webhook }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const params = { project_id: projectId, webhook_id: String(webhook.id) }
  const refresh = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ['webhooks', projectId] }),
      queries.invalidateQueries({ queryKey: ['webhook-deliveries', webhook.id] }),
    ])
  const test = useMutation({
    mutationFn: () => call(routes.webhooks.test, { params }),
    onSuccess: ({ failure, response_status: status }) => {
      if (failure === null) notify.success({ message: t.webhooks.testDelivered(status ?? 0) })
      return refresh()
    },
  })
  const toggle = useMutation({
    mutationFn: () => call(routes.webhooks.update, { params, body: { enabled: !webhook.enabled } }),
    onSuccess: refresh,
  })
  const rotate = useMutation({ mutationFn: () => call(routes.webhooks.rotateSecret, { params }), onSuccess: refresh })
  const remove = async () => {
    await call(routes.webhooks.remove, { params })
    await queries.invalidateQueries({ queryKey: ['webhooks', projectId] })
  }
  return (
    <Stack>
      <ProblemAlert error={test.error ?? toggle.error} />
      {webhook.disabled_reason && <Alert color="yellow">{webhook.disabled_reason}</Alert>}
      {test.data?.failure && (
        <Alert color="red" role="alert">
          {t.webhooks.testFailed(test.data.failure)}
        </Alert>
      )}
      <Code style={{ overflowWrap: 'anywhere' }}>{webhook.url}</Code>
      {webhook.events.length > 0 && <Text size="sm">{webhook.events.join(', ')}</Text>}
      {webhook.tag !== null && (
        <Text size="sm">
          {t.webhooks.tag}: {webhook.tag}
        </Text>
      )}
      {rotate.data && <OneTimeSecret value={rotate.data.secret} label={t.webhooks.secretOf(webhook.name)} />}
      <Group gap="xs">
        <Button variant="default" size="compact-sm" loading={test.isPending} onClick={() => test.mutate()}>
          {t.webhooks.sendTest}
        </Button>
        <Button variant="default" size="compact-sm" loading={toggle.isPending} onClick={() => toggle.mutate()}>
          {webhook.enabled ? t.webhooks.disable : t.webhooks.enable}
        </Button>
        <ConfirmButton
          label={t.webhooks.rotate}
          of={webhook.name}
          question={t.webhooks.rotateQuestion(webhook.name)}
          detail={t.webhooks.rotateDetail}
          done={t.webhooks.rotated}
          onConfirm={() => rotate.mutateAsync()}
        />
        <ConfirmButton
          label={t.webhooks.remove}
          of={webhook.name}
          question={t.webhooks.removeQuestion(webhook.name)}
          detail={t.webhooks.removeDetail}
          done={t.webhooks.removed(webhook.name)}
          onConfirm={remove}
        />
      </Group>
      <DeliveryLog params={params} webhook={webhook} />
    </Stack>
  )
}
