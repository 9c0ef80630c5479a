import type { Config } from './config.ts'
import type { Scanner } from './evaluation/scan/scanner.ts'
import { trimActivity } from './features/activity/trim-activity.ts'
import { trimAudit } from './features/audit/trim-audit.ts'
import type { GatedWrites } from './features/change-control/gated-writes.ts'
import { changeRequestJob } from './features/change-control/requests/run-requests.ts'
import { scheduleJob } from './features/change-control/schedules/run-schedules.ts'
import { trimEventDays } from './features/cohorts/behavior/trim-event-days.ts'
import { createCohortWork } from './features/cohorts/members/cohort-work.ts'
import type { Email } from './features/emails/email.ts'
import { type EmailTransport, emailJob } from './features/emails/send-emails.ts'
import { trimEvents } from './features/events/trim-events.ts'
import { trimSignInFailures } from './features/identity/sign-in/login-throttle.ts'
import { removeProjectRemains } from './features/persons/retention/remove-project-remains.ts'
import { trimPersons } from './features/persons/retention/trim-persons.ts'
import { rollbackJob } from './features/rollback/roll-back.ts'
import { webhookJob } from './features/webhooks/webhook-job.ts'
import type { Instant } from './instant.ts'
import { createJobRunner, type Job, type JobRunner } from './jobs/job-runner.ts'
import { trimChanges } from './jobs/trim-changes.ts'
import { createJobMetrics } from './observability/job-metrics.ts'
import type { Metrics } from './observability/metrics.ts'
import type { Outgoing } from './outgoing/outgoing.ts'
import type { EphemeralChanges } from './storage/changes/ephemeral-changes.ts'
import type { SecretBox } from './storage/secret-box.ts'
import type { Database } from './stores.ts'

interface Deps {
  readonly config: Config
  readonly log: Record<'warn' | 'error', (details: object, message: string) => void>
  readonly database: Database
  readonly ephemeral: EphemeralChanges
  readonly metrics: Metrics
  /** Names this node in leases. */
  readonly node: string
  readonly scanner: Scanner
  readonly writes: GatedWrites
  readonly outgoing: Outgoing
  readonly secretBox: SecretBox
  /** Undefined when no emails are sent. */
  readonly emails: EmailTransport | undefined
  /** Those of ClickHouse, where it is used. */
  readonly eventJobs: readonly Job[]
  readonly onCohortWork: () => void
  readonly now: () => Instant
}

/** The work that one node at a time does for all, without a request. */
export function startBackgroundJobs(deps: Deps): JobRunner {
  const { config, log, database, ephemeral, metrics, node, scanner, writes, outgoing, secretBox, emails, now } = deps
  const { publicUrl } = config
  const onEmailFailure = ({ id, recipient, attempts }: Email, error: unknown, isFinal: boolean) =>
    log.warn(
      { event: isFinal ? 'email_given_up' : 'email_failed', err: error, email: id, recipient, attempts },
      'an email could not be sent',
    )
  return createJobRunner({
    database,
    node,
    jobs: [
      trimEvents,
      trimEventDays(),
      ...deps.eventJobs,
      trimChanges,
      trimSignInFailures,
      trimPersons(config.personDays),
      ...(database.people.isSeparate ? [removeProjectRemains()] : []),
      ...(config.activityDays === undefined ? [] : [trimActivity(config.activityDays)]),
      ...(config.auditDays === undefined ? [] : [trimAudit(config.auditDays, secretBox)]),
      createCohortWork({ scanner, ephemeral, now, onMore: deps.onCohortWork }),
      rollbackJob((flag, error) => log.warn({ err: error, flag: flag.id }, 'a rollback failed')),
      changeRequestJob(writes, (request, error) =>
        log.warn({ err: error, changeRequest: request.id }, 'a change request could not be applied'),
      ),
      webhookJob({ outgoing, secretBox }),
      ...(emails && publicUrl ? [emailJob({ transport: emails, publicUrl, onFailure: onEmailFailure })] : []),
      scheduleJob((change, error) => log.warn({ err: error, change: change.id }, 'a scheduled change failed')),
    ],
    now,
    everyMilliseconds: config.schedulerSeconds * 1000,
    onError: (job, error) => log.error({ event: 'job_failed', err: error, job }, 'a job failed'),
    onRun: createJobMetrics(metrics.registry),
  })
}
