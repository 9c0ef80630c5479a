import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { pipelinedWrite } from '../../storage/prepared-query.ts'
import type { Tables } from '../../storage/tables.ts'
import type { NewActivity } from '../activity/activity.ts'
import { eventOf, kindOf } from './webhook.ts'

interface Enqueued {
  readonly eventId: string
  readonly kind: string
  readonly quotedKind: string
  readonly event: string
  readonly now: string
  readonly organizationId: string
  readonly projectId: number | null
}

/** One statement, with and without webhooks: a delivery for each that wants the event. */
const insertDeliveries = pipelinedWrite((db, e: Enqueued) =>
  db
    .insertInto('webhook_deliveries')
    .columns(['webhook_id', 'event_id', 'kind', 'event', 'status', 'due_at', 'attempts', 'created_at'])
    .expression(eb =>
      eb
        .selectFrom('webhooks')
        .select([
          'webhooks.id',
          sql<string>`cast(${e.eventId} as text)`.as('event_id'),
          sql<string>`cast(${e.kind} as text)`.as('kind'),
          sql<string>`cast(${e.event} as text)`.as('event'),
          sql<string>`'pending'`.as('status'),
          sql<string>`cast(${e.now} as text)`.as('due_at'),
          sql<number>`0`.as('attempts'),
          sql<string>`cast(${e.now} as text)`.as('created_at'),
        ])
        .where('webhooks.organization_id', '=', e.organizationId)
        .where('webhooks.enabled', '=', 1)
        .where(
          sql<boolean>`(cast(${e.projectId} as bigint) is null or webhooks.project_id = cast(${e.projectId} as bigint))`,
        )
        .where(sql<boolean>`(webhooks.events = '[]' or webhooks.events like cast(${e.quotedKind} as text))`),
    ),
)

/** Queues an activity entry for its webhooks in the transaction that it belongs to, so that it is neither lost nor sent without it. */
export async function enqueueEvent(db: Kysely<Tables>, entry: NewActivity): Promise<void> {
  const kind = kindOf(entry)
  if (kind === undefined) return
  await insertDeliveries(db, {
    eventId: randomUUID(),
    kind,
    quotedKind: `%"${kind}"%`,
    event: JSON.stringify(eventOf(entry)),
    now: entry.createdAt,
    organizationId: entry.organizationId,
    projectId: entry.projectId,
  })
}

/** The same for many entries of one organization. Most organizations have no webhooks: then this is one query. */
export async function enqueueEvents(db: Kysely<Tables>, entries: readonly NewActivity[]): Promise<void> {
  const [first] = entries
  if (!first) return
  const webhook = await db
    .selectFrom('webhooks')
    .select('id')
    .where('organization_id', '=', first.organizationId)
    .where('enabled', '=', 1)
    .limit(1)
    .executeTakeFirst()
  if (webhook) for (const entry of entries) await enqueueEvent(db, entry)
}
