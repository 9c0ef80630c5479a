import type { Generated } from 'kysely'

/** Rows of emails that wait to be sent. */
export interface EmailTables {
  emails: EmailRow
}

export interface EmailRow {
  id: Generated<number>
  organization_id: string
  message_id: string
  recipient: string
  /** Sealed JSON: an invitation contains its token. */
  content: string
  due_at: string
  attempts: number
  created_at: string
}
