import { type Kysely, type Selectable, sql } from 'kysely'
import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import { countRows, readPage } from '../../storage/read-page.ts'
import { updateSent } from '../../storage/save-row.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { type EmbeddedUser, embeddedUser, readUser } from '../identity/embedded-user.sql.ts'
import type { Delivery, DeliveryStatus, EventKind, Webhook, WebhookFormat, WebhookPatch } from './webhook.ts'

/** A webhook that is notified of the entries of an audit log, and the last one that was queued for it. */
export interface AuditFollower {
  readonly webhookId: number
  readonly organizationId: string
  readonly sequence: number
}

const headSequence = (organizationId: string) =>
  sql<number>`coalesce((select sequence from audit_heads where organization_id = ${organizationId}), 0)`

export function sqlWebhookStore(db: Kysely<Tables>) {
  const webhooks = () =>
    db
      .selectFrom('webhooks')
      .innerJoin('users as creator', 'creator.id', 'webhooks.created_by_id')
      .selectAll('webhooks')
      .select(embeddedUser('creator'))
  const deliveries = () => db.selectFrom('webhook_deliveries').selectAll('webhook_deliveries')
  const due = (now: Instant) =>
    db
      .selectFrom('webhook_deliveries')
      // A literal, so that both databases can use the partial indexes.
      .where('webhook_deliveries.status', '=', sql.lit('pending'))
      .where('webhook_deliveries.due_at', '<=', now)

  return {
    async create(webhook: Omit<Webhook, 'id'>): Promise<Webhook> {
      const row = {
        organization_id: webhook.organizationId,
        project_id: webhook.projectId,
        name: webhook.name,
        url: webhook.url,
        format: webhook.format,
        events: JSON.stringify(webhook.events),
        tag: webhook.tag,
        secret: webhook.secret,
        previous_secret: null,
        previous_secret_expires_at: null,
        enabled: Number(webhook.enabled),
        audit_sequence: webhook.events.includes('audit') ? headSequence(webhook.organizationId) : null,
        failures: 0,
        disabled_reason: null,
        created_by_id: webhook.createdBy.id,
        created_at: webhook.createdAt,
        updated_at: webhook.updatedAt,
      }
      const { id } = await db.insertInto('webhooks').values(row).returning('id').executeTakeFirstOrThrow()
      return { ...webhook, id }
    },
    /** Writes what is sent; a field that is undefined keeps its stored value. */
    async update(webhookId: number, patch: WebhookPatch): Promise<void> {
      await updateSent(db, 'webhooks', webhookId, columnsOf(patch))
    },
    /** Begins with the next entry of the audit log, continues where it was, or ends, as its stored events say. */
    async followAudit({ id, organizationId }: Pick<Webhook, 'id' | 'organizationId'>): Promise<void> {
      const next = sql<number>`coalesce(audit_sequence, ${headSequence(organizationId)})`
      await db
        .updateTable('webhooks')
        .set({ audit_sequence: sql<number | null>`case when events like '%"audit"%' then ${next} end` })
        .where('id', '=', id)
        .execute()
    },
    /** The enabled webhooks for which the audit log has new entries. */
    async listBehindAudit(): Promise<readonly AuditFollower[]> {
      const rows = await db
        .selectFrom('webhooks')
        .innerJoin('audit_heads', 'audit_heads.organization_id', 'webhooks.organization_id')
        .select(['webhooks.id', 'webhooks.organization_id', 'webhooks.audit_sequence'])
        .where('webhooks.enabled', '=', 1)
        .whereRef('audit_heads.sequence', '>', 'webhooks.audit_sequence')
        .orderBy('webhooks.id')
        .execute()
      return rows.map(row => ({
        webhookId: row.id,
        organizationId: row.organization_id,
        sequence: row.audit_sequence ?? 0,
      }))
    },
    /** False when another transaction has advanced or ended it. */
    async advanceAudit({ webhookId, sequence }: AuditFollower, to: number): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('webhooks')
        .set({ audit_sequence: to })
        .where('id', '=', webhookId)
        .where('audit_sequence', '=', sequence)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },
    async remove(webhookId: number): Promise<void> {
      await db.deleteFrom('webhooks').where('id', '=', webhookId).execute()
    },
    async find(projectId: number, webhookId: number): Promise<Webhook | undefined> {
      const row = await webhooks()
        .where('webhooks.project_id', '=', projectId)
        .where('webhooks.id', '=', webhookId)
        .executeTakeFirst()
      return row && toWebhook(row)
    },
    async findAll(webhookIds: readonly number[]): Promise<readonly Webhook[]> {
      if (webhookIds.length === 0) return []
      return (await webhooks().where('webhooks.id', 'in', webhookIds).execute()).map(toWebhook)
    },
    count: (projectId: number): Promise<number> =>
      countRows(db.selectFrom('webhooks').where('project_id', '=', projectId)),
    /** Newest first. */
    list: (projectId: number, window: Window): Promise<PageOf<Webhook>> =>
      readPage(
        webhooks().where('webhooks.project_id', '=', projectId).orderBy('webhooks.id', 'desc'),
        window,
        toWebhook,
      ),

    async addDelivery(delivery: Omit<Delivery, 'id'>): Promise<Delivery> {
      const values = deliveryColumns(delivery)
      const { id } = await db.insertInto('webhook_deliveries').values(values).returning('id').executeTakeFirstOrThrow()
      return { ...delivery, id }
    },
    async addDeliveries(added: readonly Omit<Delivery, 'id'>[]): Promise<void> {
      await db.insertInto('webhook_deliveries').values(added.map(deliveryColumns)).execute()
    },
    async saveDelivery(delivery: Delivery): Promise<void> {
      await db.updateTable('webhook_deliveries').set(attemptColumns(delivery)).where('id', '=', delivery.id).execute()
    },
    async removeDelivery(deliveryId: number): Promise<void> {
      await db.deleteFrom('webhook_deliveries').where('id', '=', deliveryId).execute()
    },
    async findDelivery(webhookId: number, deliveryId: number): Promise<Delivery | undefined> {
      const row = await deliveries().where('webhook_id', '=', webhookId).where('id', '=', deliveryId).executeTakeFirst()
      return row && toDelivery(row)
    },
    /** Newest first. */
    listDeliveries: (webhookId: number, window: Window): Promise<PageOf<Delivery>> =>
      readPage(deliveries().where('webhook_id', '=', webhookId).orderBy('id', 'desc'), window, toDelivery),
    /** The enabled webhooks that have something to send. */
    async listWithDue(now: Instant): Promise<readonly number[]> {
      const rows = await due(now)
        .innerJoin('webhooks', 'webhooks.id', 'webhook_deliveries.webhook_id')
        .select('webhook_id')
        .distinct()
        .where('webhooks.enabled', '=', 1)
        .orderBy('webhook_id')
        .execute()
      return rows.map(row => row.webhook_id)
    },
    /** What is due for a webhook, in the order in which it happened. */
    async listDue(webhookId: number, now: Instant, limit: number): Promise<readonly Delivery[]> {
      // A change of an object takes its number while it holds the object's lock: numbers follow commits, clocks may not.
      const rows = await due(now)
        .selectAll('webhook_deliveries')
        .where('webhook_id', '=', webhookId)
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(toDelivery)
    },
    /** Removes at most so many that are older, and returns how many. */
    async trimDeliveries(before: Instant, limit: number): Promise<number> {
      const removed = await db
        .deleteFrom('webhook_deliveries')
        .where('id', 'in', eb =>
          eb
            .selectFrom('webhook_deliveries')
            .select('id')
            .where('created_at', '<', before)
            .orderBy('created_at')
            .limit(limit),
        )
        .executeTakeFirst()
      return Number(removed.numDeletedRows)
    },
  }
}

const columnsOf = (patch: WebhookPatch) => ({
  name: patch.name,
  url: patch.url,
  format: patch.format,
  events: patch.events && JSON.stringify(patch.events),
  tag: patch.tag,
  secret: patch.secret,
  previous_secret: patch.previousSecret === null ? null : patch.previousSecret?.sealed,
  previous_secret_expires_at: patch.previousSecret === null ? null : patch.previousSecret?.expiresAt,
  enabled: patch.enabled === undefined ? undefined : Number(patch.enabled),
  failures: patch.failures,
  disabled_reason: patch.disabledReason,
  updated_at: patch.updatedAt,
})

const deliveryColumns = (delivery: Omit<Delivery, 'id'>) => ({
  webhook_id: delivery.webhookId,
  event_id: delivery.eventId,
  kind: delivery.kind,
  event: JSON.stringify(delivery.event),
  created_at: delivery.createdAt,
  ...attemptColumns(delivery),
})

const attemptColumns = (delivery: Omit<Delivery, 'id'>) => ({
  status: delivery.status,
  due_at: delivery.dueAt,
  attempts: delivery.attempts,
  response_status: delivery.responseStatus,
  failure: delivery.failure,
  attempted_at: delivery.attemptedAt,
})

const toWebhook = (row: Selectable<Tables['webhooks']> & EmbeddedUser<'creator'>): Webhook => ({
  id: row.id,
  organizationId: row.organization_id,
  projectId: row.project_id,
  name: row.name,
  url: row.url,
  format: row.format as WebhookFormat,
  events: JSON.parse(row.events),
  tag: row.tag,
  secret: row.secret,
  previousSecret:
    row.previous_secret === null || row.previous_secret_expires_at === null
      ? null
      : { sealed: row.previous_secret, expiresAt: row.previous_secret_expires_at },
  enabled: row.enabled === 1,
  failures: row.failures,
  disabledReason: row.disabled_reason,
  createdBy: readUser(row, 'creator'),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const toDelivery = (row: Selectable<Tables['webhook_deliveries']>): Delivery => ({
  id: row.id,
  webhookId: row.webhook_id,
  eventId: row.event_id,
  kind: row.kind as EventKind,
  event: JSON.parse(row.event),
  status: row.status as DeliveryStatus,
  dueAt: row.due_at,
  attempts: row.attempts,
  responseStatus: row.response_status,
  failure: row.failure,
  createdAt: row.created_at,
  attemptedAt: row.attempted_at,
})
