import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Instant } from '../../instant.ts'
import type { SecretBox } from '../../storage/secret-box.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import type { Email, EmailContent, NewEmail } from './email.ts'

/** Sealed texts can be opened for this alone. */
const purpose = 'email'

/**
 * The queue of emails. A row is removed when its email was sent or given up. Without a box, no SMTP server is
 * configured.
 */
export function sqlEmailStore(db: Kysely<Tables>, box: SecretBox | undefined) {
  return {
    /** False without an SMTP server: then nothing is queued. */
    isEnabled: box !== undefined,
    /** Queues emails in the transaction of what they are about, so that none is lost or sent without it. */
    async enqueue(emails: readonly NewEmail[], now: Instant): Promise<void> {
      if (!box || emails.length === 0) return
      const rows = emails.map(({ organizationId, recipient, ...content }) => ({
        organization_id: organizationId,
        message_id: randomUUID(),
        recipient,
        content: box.seal(JSON.stringify(content), purpose),
        due_at: now,
        attempts: 0,
        created_at: now,
      }))
      await db.insertInto('emails').values(rows).execute()
    },
    /** Earliest due first. */
    async listDue(now: Instant, limit: number): Promise<readonly Email[]> {
      const rows = await db
        .selectFrom('emails')
        .selectAll()
        .where('due_at', '<=', now)
        .orderBy('due_at')
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(row => ({
        id: row.id,
        messageId: row.message_id,
        recipient: row.recipient,
        content: box && openContent(box, row.content),
        attempts: row.attempts,
      }))
    },
    async retryAt(emailId: number, dueAt: Instant): Promise<void> {
      await db
        .updateTable('emails')
        .set(({ eb }) => ({ attempts: eb('attempts', '+', 1), due_at: dueAt }))
        .where('id', '=', emailId)
        .execute()
    },
    async remove(emailId: number): Promise<void> {
      await db.deleteFrom('emails').where('id', '=', emailId).execute()
    },
  }
}

function openContent(box: SecretBox, sealed: string): EmailContent | undefined {
  try {
    return JSON.parse(box.open(sealed, purpose))
  } catch {
    return undefined
  }
}
