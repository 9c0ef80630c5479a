import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import type { Delivery, Webhook } from './webhook.ts'

export type WebhookPatch = Partial<
  Pick<
    Webhook,
    | 'name'
    | 'url'
    | 'format'
    | 'events'
    | 'tag'
    | 'secret'
    | 'previousSecret'
    | 'enabled'
    | 'failures'
    | 'disabledReason'
    | 'updatedAt'
  >
>

export interface WebhookStore {
  create(webhook: Omit<Webhook, 'id'>): Promise<Webhook>
  /** Writes what is sent; a field that is undefined keeps its stored value. */
  update(webhookId: number, patch: WebhookPatch): Promise<void>
  remove(webhookId: number): Promise<void>
  find(projectId: number, webhookId: number): Promise<Webhook | undefined>
  findAll(webhookIds: readonly number[]): Promise<readonly Webhook[]>
  count(projectId: number): Promise<number>
  /** Newest first. */
  list(projectId: number, window: Window): Promise<PageOf<Webhook>>

  addDelivery(delivery: Omit<Delivery, 'id'>): Promise<Delivery>
  saveDelivery(delivery: Delivery): Promise<void>
  removeDelivery(deliveryId: number): Promise<void>
  findDelivery(webhookId: number, deliveryId: number): Promise<Delivery | undefined>
  /** Newest first. */
  listDeliveries(webhookId: number, window: Window): Promise<PageOf<Delivery>>
  /** The enabled webhooks that have something to send. */
  listWithDue(now: Instant): Promise<readonly number[]>
  /** What is due for a webhook, in the order in which it happened. */
  listDue(webhookId: number, now: Instant, limit: number): Promise<readonly Delivery[]>
  /** Removes at most so many that are older, and returns how many. */
  trimDeliveries(before: Instant, limit: number): Promise<number>
}
