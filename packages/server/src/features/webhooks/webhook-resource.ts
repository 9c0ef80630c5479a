import type { WebhookDelivery as DeliveryWire, Webhook as WebhookWire } from '@halyard/contract'
import { userToWire } from '../identity/user-resource.ts'
import type { Delivery, Webhook } from './webhook.ts'

/** Without its secret. */
export const webhookToWire = (webhook: Webhook): WebhookWire => ({
  id: webhook.id,
  name: webhook.name,
  url: webhook.url,
  format: webhook.format,
  events: [...webhook.events],
  tag: webhook.tag,
  enabled: webhook.enabled,
  failures: webhook.failures,
  disabled_reason: webhook.disabledReason,
  previous_secret_expires_at: webhook.previousSecret?.expiresAt ?? null,
  created_by: userToWire(webhook.createdBy),
  created_at: webhook.createdAt,
  updated_at: webhook.updatedAt,
})

export const deliveryToWire = (delivery: Delivery): DeliveryWire => ({
  id: delivery.id,
  event_id: delivery.eventId,
  event: delivery.kind,
  item_name: delivery.event.detail.name,
  status: delivery.status,
  attempts: delivery.attempts,
  response_status: delivery.responseStatus,
  failure: delivery.failure,
  created_at: delivery.createdAt,
  attempted_at: delivery.attemptedAt,
  next_attempt_at: delivery.status === 'pending' ? delivery.dueAt : null,
})
