import type { WebhookEvent as NotifiedEvent } from '@halyard/contract'
import type { NewActivity } from '../../domain/activity.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import type { User } from '../../tenancy.ts'

/** What a webhook can be notified of; `test` is sent on request. */
export type EventKind = NotifiedEvent | 'test'

export type WebhookFormat = 'json' | 'slack' | 'teams' | 'discord'

export interface Webhook {
  readonly id: number
  readonly organizationId: string
  readonly projectId: number
  readonly name: string
  readonly url: string
  readonly format: WebhookFormat
  /** Empty for all but `audit`. */
  readonly events: readonly EventKind[]
  /** Only events of flags with this tag. */
  readonly tag: string | null
  /** Sealed. */
  readonly secret: string
  /** After a rotation: also signs until it expires. */
  readonly previousSecret: { readonly sealed: string; readonly expiresAt: Instant } | null
  readonly enabled: boolean
  /** Failed attempts in a row. */
  readonly failures: number
  /** Why Halyard disabled it. */
  readonly disabledReason: string | null
  readonly createdBy: User
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed'

export interface Delivery {
  readonly id: number
  readonly webhookId: number
  /** The same for every attempt, so that a receiver can recognize a repetition. */
  readonly eventId: string
  readonly kind: EventKind
  readonly event: WebhookEvent
  readonly status: DeliveryStatus
  readonly dueAt: Instant
  readonly attempts: number
  readonly responseStatus: number | null
  readonly failure: string | null
  readonly createdAt: Instant
  readonly attemptedAt: Instant | null
}

/** An activity entry as it is stored with its deliveries. */
export interface WebhookEvent extends Pick<NewActivity, 'scope' | 'itemId' | 'activity' | 'detail' | 'keyLabel'> {
  readonly email: string | null
  /** Of an entry of the audit log, which is read when it is sent. */
  readonly sequence?: number
}

export const eventOf = ({ scope, itemId, activity, detail, keyLabel, user }: NewActivity): WebhookEvent => ({
  scope,
  itemId,
  activity,
  detail,
  keyLabel,
  email: user?.email ?? null,
})

/** The kind of event that an activity entry is; undefined when webhooks are not notified of it. */
export function kindOf({
  scope,
  activity,
  detail,
}: Pick<NewActivity, 'scope' | 'activity' | 'detail'>): EventKind | undefined {
  const step = steps[activity]
  if (step) return step
  if (scope === 'Freeze') return activity === 'created' ? 'freeze.created' : 'freeze.ended'
  if (scope !== 'FeatureFlag') return undefined
  if (activity === 'created') return 'flag.created'
  if (activity !== 'updated' && activity !== 'deleted') return undefined
  if (detail.trigger?.job_type === 'rollback') return 'flag.rolled_back'
  const isDeleted = detail.changes.some(({ field, after }) => field === 'deleted' && after === true)
  return isDeleted || activity === 'deleted' ? 'flag.deleted' : 'flag.updated'
}

const steps: Readonly<Record<string, EventKind>> = {
  change_requested: 'change_request.opened',
  change_commented: 'change_request.commented',
  change_approved: 'change_request.approved',
  change_rejected: 'change_request.rejected',
  change_applied: 'change_request.applied',
  change_failed: 'change_request.failed',
  change_conflicted: 'change_request.failed',
  emergency_applied: 'emergency.applied',
}

export const attemptsMax = 8
const firstBackoffMilliseconds = 30_000
const backoffMillisecondsMax = 6 * 3_600_000
/** A webhook is disabled after so many failed attempts in a row. */
export const failuresMax = 50

export interface AttemptOutcome {
  /** Null when there was no response. */
  readonly responseStatus: number | null
  /** Null for success. */
  readonly failure: string | null
}

/** Exponential backoff from half a minute to six hours; `failed` after the last attempt. */
export function afterAttempt(delivery: Delivery, { responseStatus, failure }: AttemptOutcome, now: Instant): Delivery {
  const attempts = delivery.attempts + 1
  const backoff = Math.min(firstBackoffMilliseconds * 4 ** delivery.attempts, backoffMillisecondsMax)
  return {
    ...delivery,
    attempts,
    responseStatus,
    failure,
    status: failure === null ? 'delivered' : attempts >= attemptsMax ? 'failed' : 'pending',
    dueAt: failure === null ? delivery.dueAt : plusMilliseconds(now, backoff),
    attemptedAt: now,
  }
}

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
