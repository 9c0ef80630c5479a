import type { Generated } from 'kysely'

/** Rows of webhooks and their deliveries. */
export interface WebhookTables {
  webhooks: WebhookRow
  webhook_deliveries: WebhookDeliveryRow
}

export interface WebhookRow {
  id: Generated<number>
  organization_id: string
  project_id: number
  name: string
  url: string
  format: string
  /** A JSON list of kinds; empty for all. */
  events: string
  tag: string | null
  /** Sealed. */
  secret: string
  previous_secret: string | null
  previous_secret_expires_at: string | null
  enabled: number
  /** Failed attempts in a row. */
  failures: number
  disabled_reason: string | null
  created_by_id: number
  created_at: string
  updated_at: string
}

export interface WebhookDeliveryRow {
  id: Generated<number>
  webhook_id: number
  event_id: string
  kind: string
  /** The activity entry as JSON. */
  event: string
  status: string
  due_at: string
  attempts: number
  response_status: number | null
  failure: string | null
  created_at: string
  attempted_at: string | null
}
