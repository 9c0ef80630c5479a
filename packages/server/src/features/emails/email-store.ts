import type { Instant } from '../../instant.ts'
import type { Email, NewEmail } from './email.ts'

/** The queue of emails. A row is removed when its email was sent or given up. */
export interface EmailStore {
  /** False without an SMTP server: then nothing is queued. */
  readonly isEnabled: boolean
  /** Queues emails in the transaction of what they are about, so that none is lost or sent without it. */
  enqueue(emails: readonly NewEmail[], now: Instant): Promise<void>
  /** Earliest due first. */
  listDue(now: Instant, limit: number): Promise<readonly Email[]>
  retryAt(emailId: number, dueAt: Instant): Promise<void>
  remove(emailId: number): Promise<void>
}
