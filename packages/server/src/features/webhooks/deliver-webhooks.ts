import type { AuditEntry } from '@halyard/contract'
import type { Instant } from '../../instant.ts'
import type { JobContext } from '../../jobs/job-runner.ts'
import { type Outgoing, OutgoingFailure } from '../../outgoing/outgoing.ts'
import type { SecretBox } from '../../storage/secret-box.ts'
import type { Database, Stores } from '../../stores.ts'
import { readEntry } from '../audit/export-lines.ts'
import { canFollowAudit } from './audit-access.ts'
import { recordWebhook, secretPurpose } from './save-webhook.ts'
import { type AttemptOutcome, afterAttempt, type Delivery, failuresMax, type Webhook } from './webhook.ts'
import { messageOf } from './webhook-message.ts'

export interface DeliveryDeps {
  readonly outgoing: Outgoing
  readonly secretBox: SecretBox
}

const requestMillisecondsMax = 10_000
const answerBytesMax = 64 * 1024

/**
 * Sends one delivery and records the outcome; undefined when the webhook is gone. It is recorded after it was sent: when the node ends in
 * between, it is sent again with the same id.
 */
export async function deliver(
  database: Pick<JobContext & Database, 'read' | 'transaction'>,
  deps: DeliveryDeps,
  delivery: Delivery,
  now: Instant,
): Promise<Delivery | undefined> {
  const target = await database.read(tx => findTarget(tx, delivery))
  if (!target) {
    await database.transaction(tx => tx.webhooks.removeDelivery(delivery.id))
    return undefined
  }
  const outcome = await attempt(deps, target, delivery, now)
  const next = afterAttempt(delivery, outcome, now)
  await database.transaction(tx => record(tx, next, now))
  return next
}

interface Target {
  readonly webhook: Webhook
  readonly projectName: string
  /** Of the audit log, or why it is not sent. */
  readonly entry?: AuditEntry | string | undefined
}

async function findTarget(tx: Stores, { webhookId, event }: Delivery): Promise<Target | undefined> {
  const [webhook] = await tx.webhooks.findAll([webhookId])
  const project = webhook && (await tx.projects.find(webhook.projectId))
  if (!webhook || !project) return undefined
  const entry = event.sequence === undefined ? undefined : await findEntry(tx, webhook, event.sequence)
  return { webhook, projectName: project.name, entry }
}

/** Members in canonical order, so that a receiver can verify what it collects. */
async function findEntry(tx: Stores, webhook: Webhook, sequence: number): Promise<AuditEntry | string> {
  if (!(await canFollowAudit(tx, webhook))) return 'The creator of the webhook cannot read the audit log any more.'
  const entry = await tx.audit.find(webhook.organizationId, sequence)
  return entry ? readEntry(entry) : 'The retention has removed the entry.'
}

async function attempt(deps: DeliveryDeps, target: Target, delivery: Delivery, now: Instant): Promise<AttemptOutcome> {
  const { webhook, projectName, entry } = target
  if (typeof entry === 'string') return { responseStatus: null, failure: entry }
  const secrets = openSecrets(deps.secretBox, webhook, now)
  if (!secrets) {
    return { responseStatus: null, failure: 'The secret was encrypted with another key. Rotate the secret.' }
  }
  const { body, headers } = messageOf(webhook, delivery, { projectName, secrets, now, entry })
  try {
    const { status } = await deps.outgoing.request({
      url: webhook.url,
      method: 'POST',
      headers,
      body,
      timeoutMsMax: requestMillisecondsMax,
      answerBytesMax,
      // A redirect would turn the request into a GET.
      redirectsMax: 0,
    })
    return {
      responseStatus: status,
      failure: status >= 200 && status < 300 ? null : `The receiver returned ${status}.`,
    }
  } catch (error) {
    if (!(error instanceof OutgoingFailure)) throw error
    return { responseStatus: null, failure: error.message }
  }
}

/** Undefined when they were sealed elsewhere. */
function openSecrets(box: SecretBox, { secret, previousSecret }: Webhook, now: Instant): readonly string[] | undefined {
  try {
    const current = box.open(secret, secretPurpose)
    const isOverlapping = previousSecret !== null && previousSecret.expiresAt > now
    return isOverlapping ? [current, box.open(previousSecret.sealed, secretPurpose)] : [current]
  } catch {
    return undefined
  }
}

async function record(tx: Stores, delivery: Delivery, now: Instant): Promise<void> {
  const [webhook] = await tx.webhooks.findAll([delivery.webhookId])
  if (!webhook) return
  await tx.webhooks.saveDelivery(delivery)
  const failures = delivery.failure === null ? 0 : webhook.failures + 1
  if (failures === webhook.failures) return
  const isDisabled = failures >= failuresMax && webhook.enabled
  const reason = `${failures} attempts in a row failed. The last one: ${delivery.failure}`
  await tx.webhooks.update(webhook.id, {
    failures,
    ...(isDisabled && { enabled: false, disabledReason: reason, updatedAt: now }),
  })
  if (isDisabled) await recordWebhook(tx, null, webhook, { activity: 'disabled', reason }, now)
}
