import { randomUUID } from 'node:crypto'
import { type Author, authorOf, diffFields, type FieldChange } from '../../domain/activity.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import { invalid, missing } from '../../problem.ts'
import type { SecretBox } from '../../storage/secret-box.ts'
import type { Stores } from '../../stores.ts'
import type { Actor, Project } from '../../tenancy.ts'
import { newSecret } from '../identity/secret.ts'
import { requireAuditAccess, requireAuditCreator } from './audit-access.ts'
import type { Delivery, Webhook } from './webhook.ts'

const webhooksPerProjectMax = 20
const rotationOverlapMilliseconds = 24 * 3_600_000

/** What a user decides about a webhook. */
export type WebhookContent = Pick<Webhook, 'name' | 'url' | 'format' | 'events' | 'tag' | 'enabled'>

/** A webhook together with its secret, which is shown once. */
export interface WebhookWithSecret {
  readonly webhook: Webhook
  readonly secret: string
}

/** Sealed texts can be opened for this alone. */
export const secretPurpose = 'webhook secret'

/** Raises `invalid` for an address that is none, and when the project has too many; `forbidden` for an audit log out of reach. */
export async function createWebhook(
  tx: Stores,
  actor: Actor,
  project: Project,
  { content, secretBox }: { readonly content: WebhookContent; readonly secretBox: SecretBox },
  now: Instant,
): Promise<WebhookWithSecret> {
  checkUrl(content.url)
  if (content.events.includes('audit')) requireAuditAccess(actor, project.organizationId)
  if ((await tx.webhooks.count(project.id)) >= webhooksPerProjectMax) {
    throw invalid(null, 'limit_reached', `A project can have at most ${webhooksPerProjectMax} webhooks.`)
  }
  const secret = newSecret('whsec_')
  const webhook = await tx.webhooks.create({
    ...content,
    organizationId: project.organizationId,
    projectId: project.id,
    secret: secretBox.seal(secret, secretPurpose),
    previousSecret: null,
    failures: 0,
    disabledReason: null,
    createdBy: actor.user,
    createdAt: now,
    updatedAt: now,
  })
  await recordWebhook(tx, actor, webhook, { activity: 'created' }, now)
  return { webhook, secret }
}

/** Changes the fields that are sent. Enabling it again forgets earlier failures. Only those who can read the audit log change where it goes. */
export async function updateWebhook(
  tx: Stores,
  actor: Actor,
  project: Project,
  { webhookId, patch }: { readonly webhookId: number; readonly patch: Partial<WebhookContent> },
  now: Instant,
): Promise<Webhook> {
  const stored = await getWebhook(tx, project, webhookId)
  if (patch.url !== undefined) checkUrl(patch.url)
  const revived = patch.enabled === true ? { failures: 0, disabledReason: null } : {}
  await tx.webhooks.update(stored.id, { ...patch, ...revived, updatedAt: now })
  const saved = await getWebhook(tx, project, webhookId)
  // After the write has locked the row: no other request can add the audit log in between.
  if (saved.events.includes('audit')) requireAuditAccess(actor, project.organizationId)
  if (patch.events?.includes('audit')) await requireAuditCreator(tx, saved)
  if (patch.events) await tx.webhooks.followAudit(saved)
  const changes = diffFields({ ...shownFields(stored) }, { ...shownFields(saved) })
  await recordWebhook(tx, actor, saved, { activity: 'updated', changes }, now)
  return saved
}

/** The previous secret also signs for a day, so that receivers can be updated one after another. */
export async function rotateSecret(
  tx: Stores,
  actor: Actor,
  project: Project,
  { webhookId, secretBox }: { readonly webhookId: number; readonly secretBox: SecretBox },
  now: Instant,
): Promise<WebhookWithSecret> {
  const stored = await getWebhook(tx, project, webhookId)
  const secret = newSecret('whsec_')
  await tx.webhooks.update(stored.id, {
    secret: secretBox.seal(secret, secretPurpose),
    previousSecret: { sealed: stored.secret, expiresAt: plusMilliseconds(now, rotationOverlapMilliseconds) },
    updatedAt: now,
  })
  await recordWebhook(tx, actor, stored, { activity: 'secret_rotated' }, now)
  return { webhook: await getWebhook(tx, project, webhookId), secret }
}

export async function removeWebhook(
  tx: Stores,
  actor: Actor,
  project: Project,
  webhookId: number,
  now: Instant,
): Promise<void> {
  const stored = await getWebhook(tx, project, webhookId)
  await tx.webhooks.remove(stored.id)
  await recordWebhook(tx, actor, stored, { activity: 'deleted' }, now)
}

/** Raises `missing`. */
export async function getWebhook(tx: Stores, project: Pick<Project, 'id'>, webhookId: number): Promise<Webhook> {
  const webhook = await tx.webhooks.find(project.id, webhookId)
  if (!webhook) throw missing('Webhook')
  return webhook
}

/** A message that says nothing happened; it goes through the same way as all others. */
export const testDelivery = (webhook: Webhook, actor: Actor, now: Instant): Omit<Delivery, 'id'> => ({
  webhookId: webhook.id,
  eventId: randomUUID(),
  kind: 'test',
  event: {
    scope: 'Webhook',
    itemId: String(webhook.id),
    activity: 'tested',
    detail: { name: webhook.name, changes: [], trigger: null },
    keyLabel: actor.key.label,
    email: actor.user.email,
  },
  status: 'pending',
  // It is sent at once; the job takes over when that is interrupted.
  dueAt: plusMilliseconds(now, 60_000),
  attempts: 0,
  responseStatus: null,
  failure: null,
  createdAt: now,
  attemptedAt: null,
})

function checkUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.username || url.password) {
    throw invalid('url', 'invalid_input', 'url must be an http:// or https:// address without credentials.')
  }
}

/** The address may carry a token, so the activity names its host only. */
const shownFields = ({ name, url, format, events, tag, enabled }: Webhook) => ({
  name,
  host: new URL(url).host,
  format,
  events,
  tag,
  enabled,
})

export interface WebhookRecord {
  readonly activity: string
  readonly changes?: readonly FieldChange[]
  readonly reason?: string
}

export const recordWebhook = (
  tx: Stores,
  author: Author,
  webhook: Webhook,
  { activity, changes = [], reason }: WebhookRecord,
  now: Instant,
): Promise<void> =>
  tx.activity.append({
    organizationId: webhook.organizationId,
    projectId: webhook.projectId,
    scope: 'Webhook',
    itemId: String(webhook.id),
    activity,
    ...authorOf(author),
    detail: { name: webhook.name, changes, trigger: reason === undefined ? null : { reason } },
    createdAt: now,
  })
