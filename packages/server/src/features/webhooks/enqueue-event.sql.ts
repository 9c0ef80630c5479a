import { randomUUID } from 'node:crypto'
import { type Expression, type Kysely, type RawBuilder, sql } from 'kysely'
import type { NewActivity } from '../../domain/activity.ts'
import { isSqlite, pipelinedWrite } from '../../storage/prepared-query.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { eventOf, kindOf } from './webhook.ts'

interface Enqueued {
  readonly eventId: string
  readonly kind: string
  readonly quotedKind: string
  readonly event: string
  readonly now: string
  readonly organizationId: string
  readonly projectId: number | null
  /** Null when the event is not about a flag. */
  readonly flagId: number | null
  /** The tags that the flag had before, as JSON. */
  readonly formerTags: string
}

/** The elements of a JSON list that are strings. Compared as JSON on PostgreSQL, which cannot hold every string as text. */
const hasTag = (db: Kysely<Tables>, list: Expression<string>): RawBuilder<boolean> =>
  isSqlite(db)
    ? sql`exists (select 1 from json_each(${list}) where type = 'text' and value = webhooks.tag)`
    : sql`exists (select 1 from json_array_elements(cast(${list} as json)) where value::text = to_json(webhooks.tag)::text)`

/**
 * One statement, with and without webhooks: a delivery for each that wants the event. The flag has been saved in the same transaction; a
 * change that removes the tag still counts.
 */
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
        .where(sql<boolean>`(webhooks.events = '[]' or webhooks.events like cast(${e.quotedKind} as text))`)
        .where(
          sql<boolean>`(
            webhooks.tag is null or cast(${e.flagId} as bigint) is null
            or ${hasTag(db, sql`cast(${e.formerTags} as text)`)}
            or exists (select 1 from flags where flags.id = cast(${e.flagId} as bigint) and ${hasTag(db, sql`flags.tags`)})
          )`,
        ),
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
    flagId: entry.scope === 'FeatureFlag' ? Number(entry.itemId) : null,
    formerTags: JSON.stringify(formerTags(entry)),
  })
}

function formerTags({ detail }: NewActivity): readonly unknown[] {
  const before = detail.changes.find(({ field }) => field === 'tags')?.before
  return Array.isArray(before) ? before : []
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
