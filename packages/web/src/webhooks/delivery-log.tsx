import { routes, type Webhook, type WebhookDelivery } from '@halyard/contract'
import { Button, Text, VisuallyHidden } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Messages } from '../i18n/en.ts'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { useApiQuery } from '../services/use-api-query.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { RelativeTime } from '../ui/data/relative-time.tsx'
import { useNotify } from '../ui/feedback/notify.ts'
import { Loaded, ProblemAlert } from '../ui/feedback/problems.tsx'

interface Props {
  params: { project_id: string; webhook_id: string }
  webhook: Webhook
}

/** What was sent to a webhook, with the response. */
export function DeliveryLog({ params, webhook }: Props) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const queryKey = ['webhook-deliveries', webhook.id]
  const deliveries = useApiQuery(queryKey, routes.webhooks.listDeliveries, { params, query: { limit: '20' } })
  const resend = useMutation({
    mutationFn: (id: number) => call(routes.webhooks.resend, { params: { ...params, delivery_id: String(id) } }),
    onSuccess: ({ failure }) => {
      if (failure === null) notify.success({ message: t.webhooks.resent })
      return queries.invalidateQueries({ queryKey })
    },
  })
  return (
    <section>
      <Text fw={600} size="sm" component="h3" mb="xs">
        {t.webhooks.deliveries}
      </Text>
      <ProblemAlert error={resend.error} />
      <Loaded query={deliveries}>
        {({ results }) =>
          results.length === 0 ? (
            <Text size="sm">{t.webhooks.noDeliveries}</Text>
          ) : (
            <DataTable
              label={t.webhooks.deliveriesOf(webhook.name)}
              head={[t.webhooks.event, t.webhooks.status, t.webhooks.time, '']}
              rows={results.map(delivery => ({
                key: delivery.id,
                cells: [
                  `${delivery.event} ${delivery.item_name}`,
                  statusOf(t, delivery),
                  <RelativeTime key="time" instant={delivery.created_at} />,
                  <Button
                    key="resend"
                    variant="subtle"
                    size="compact-sm"
                    loading={resend.isPending && resend.variables === delivery.id}
                    onClick={() => resend.mutate(delivery.id)}
                  >
                    {t.webhooks.resend}
                    <VisuallyHidden>: {delivery.item_name}</VisuallyHidden>
                  </Button>,
                ],
              }))}
            />
          )
        }
      </Loaded>
    </section>
  )
}

function statusOf(t: Messages, { status, attempts, failure, response_status: code }: WebhookDelivery): string {
  if (status === 'delivered') return t.webhooks.delivered(code)
  const state = status === 'failed' ? t.webhooks.failed : t.webhooks.pending(attempts)
  return failure === null ? state : `${state}: ${failure}`
}
