import type { Generated } from 'kysely'
import type { ApprovalTables } from './rows/approval-tables.ts'
import type { ChangeControlTables } from './rows/change-control-tables.ts'
import type { DefinitionTables } from './rows/definition-tables.ts'
import type { EmailTables } from './rows/email-tables.ts'
import type { FlagDetailTables } from './rows/flag-detail-tables.ts'
import type { IdentityTables } from './rows/identity-tables.ts'
import type { ImportTables } from './rows/import-tables.ts'
import type { PluginTables } from './rows/plugin-tables.ts'
import type { WebhookTables } from './rows/webhook-tables.ts'

/**
 * The rows as they are stored. Portable columns throughout (ADR 2): integer booleans, JSON as text, instants as text that sorts.
 * Only `*.sql.ts` files read this; they turn rows into domain values and back.
 */
export interface Tables
  extends PluginTables,
    ApprovalTables,
    ChangeControlTables,
    DefinitionTables,
    EmailTables,
    FlagDetailTables,
    IdentityTables,
    ImportTables,
    WebhookTables {
  users: UserRow
  organizations: OrganizationRow
  memberships: MembershipRow
  invites: InviteRow
  projects: ProjectRow
  group_types: GroupTypeRow
  secret_keys: SecretKeyRow
  api_keys: ApiKeyRow
  roles: RoleRow
  role_memberships: RoleMembershipRow
  resource_access: ResourceAccessRow
  flags: FlagRow
  flag_versions: FlagVersionRow
  flag_role_access: FlagRoleAccessRow
  dashboards: DashboardRow
  cohorts: CohortRow
  cohort_people: CohortPersonRow
  cohort_jobs: CohortJobRow
  cohort_imports: CohortImportRow
  flag_metrics: FlagMetricRow
  leases: LeaseRow
  scheduled_changes: ScheduledChangeRow
  activity: ActivityRow
  persons: PersonRow
  person_distinct_ids: PersonDistinctIdRow
  hash_key_overrides: HashKeyOverrideRow
  person_seen: PersonSeenRow
  groups: GroupRow
  flag_usage: FlagUsageRow
  flag_usage_users: { usage_id: number; user_hash: number }
  flag_last_used: FlagLastUsedRow
  event_counts: EventCountRow
  received_batches: { id: string; received_at: string }
  sign_in_failures: { key: string; count: number; since: string }
  known_sign_ins: { key: string; last_at: string }
  changes: ChangeRow
  change_head: { id: number; sequence: number }
  schema_migrations: { version: number; name: string; applied_at: string }
  instance: { name: string; value: string }
}

export interface UserRow {
  id: Generated<number>
  uuid: string
  distinct_id: string
  first_name: string
  email: string
  password_hash: string | null
  is_email_verified: number
  is_active: number
  is_staff: Generated<number>
  current_organization_id: string | null
  current_project_id: number | null
  date_joined: string
  change_request_emails: Generated<number>
  language: Generated<string | null>
}

export interface OrganizationRow {
  id: string
  name: string
  slug: string
  plugins_access_level: number
  default_access_level: Generated<number>
  created_at: string
  updated_at: string
}

export interface MembershipRow {
  id: string
  organization_id: string
  user_id: number
  level: number
  joined_at: string
  updated_at: string
}

export interface InviteRow {
  id: string
  organization_id: string
  target_email: string
  first_name: string
  level: number
  token_hash: string | null
  created_by_id: number
  created_at: string
  expires_at: string
}

export interface ProjectRow {
  id: Generated<number>
  uuid: string
  organization_id: string
  name: string
  api_token: string
  previous_api_token: string | null
  previous_token_expires_at: string | null
  timezone: string
  property_matching_version: number
  created_at: string
  updated_at: string
}

export interface GroupTypeRow {
  project_id: number
  type_index: number
  name: string
}

export interface SecretKeyRow {
  id: string
  project_id: number
  label: string
  hash: string
  mask: string
  created_at: string
}

export interface ApiKeyRow {
  id: string
  user_id: number
  label: string
  hash: string
  mask: string
  scopes: string
  scoped_teams: string
  scoped_organizations: string
  is_session: number
  sign_in_id: string | null
  created_at: string
  last_used_at: string | null
  expires_at: string | null
}

export interface RoleRow {
  id: string
  organization_id: string
  name: string
  name_folded: string
  access_level: number
  created_by_id: number
  created_at: string
}

export interface RoleMembershipRow {
  id: string
  role_id: string
  user_id: number
  joined_at: string
  updated_at: string
}

export interface ResourceAccessRow {
  id: Generated<number>
  organization_id: string
  resource: string
  access_level: number
  created_by_id: number
  created_at: string
  updated_at: string
}

export interface FlagRow {
  id: Generated<number>
  project_id: number
  key: string
  name: string
  filters: string
  is_multivariant: number
  deleted: number
  active: number
  created_by_id: number
  created_at: string
  ensure_experience_continuity: number
  rollback_conditions: string
  performed_rollback: number
  tags: string
  usage_dashboard_id: number
  analytics_dashboards: string
  has_enriched_analytics: number
  bucketing_identifier: string | null
  evaluation_runtime: string | null
  evaluation_contexts: string
  archived: number
  version: number
  updated_at: string
  last_modified_by_id: number | null
  active_since: string
  is_fully_rolled_out: number
}

export interface FlagVersionRow {
  flag_id: number
  version: number
  snapshot: string
  user_id: number | null
  created_at: string
}

export interface FlagRoleAccessRow {
  id: Generated<number>
  flag_id: number
  role_id: string
  added_at: string
  updated_at: string
}

export interface DashboardRow {
  id: Generated<number>
  project_id: number
  name: string
  description: string
  pinned: number
  deleted: number
  flag_id: number | null
  is_enriched: number
  created_by_id: number
  created_at: string
  tags: Generated<string>
  tiles: Generated<string>
}

export interface FlagMetricRow {
  flag_id: number
  series: string
  active_since: string
  minute: string
  samples: number
  total: number
  lowest: number
  highest: number
}

export interface LeaseRow {
  name: string
  holder: string
  token: number
  expires_at: string
}

export interface ScheduledChangeRow {
  id: Generated<number>
  project_id: number
  flag_id: number
  payload: string
  scheduled_at: string
  status: string
  steps_done: number
  due_at: string
  attempts: number
  failure_reason: string | null
  executed_at: string | null
  is_recurring: number
  recurrence_interval: string | null
  cron_expression: string | null
  timezone: string
  first_at: string | null
  end_date: string | null
  last_executed_at: string | null
  pair_id: string | null
  change_request_id: number | null
  content_hash: string | null
  created_by_id: number
  created_at: string
  updated_at: string
  version: number
}

export interface ActivityRow {
  id: Generated<number>
  organization_id: string
  project_id: number | null
  scope: string
  item_id: string
  activity: string
  user_id: number | null
  key_label: string | null
  detail: string
  created_at: string
}

export interface ChangeRow {
  sequence: number
  topic: string
  organization_id: string | null
  project_id: number | null
  entity_id: string
  at: string
}

export interface CohortRow {
  id: Generated<number>
  project_id: number
  name: string
  description: string
  filters: string
  is_static: number
  deleted: number
  created_by_id: number
  created_at: string
  updated_at: string
  version: number
  people_count: number | null
  last_calculation: string | null
  errors_calculating: number
  last_error: string | null
}

export interface CohortPersonRow {
  cohort_id: number
  person_id: number
}

export interface CohortJobRow {
  cohort_id: number
  task: string
  position: number
  processed: number
  matched: number
  total: number | null
  attempts: number
  due_at: string
  revision: string
}

export interface CohortImportRow {
  id: Generated<number>
  cohort_id: number
  distinct_ids: string
}

export interface PersonRow {
  id: Generated<number>
  project_id: number
  uuid: string
  properties: string
  /** The property `email`, when it is text: for finding people by it. */
  email: string | null
  is_identified: number
  distinct_id_count: number
  version: number
  created_at: string
}

export interface PersonDistinctIdRow {
  project_id: number
  distinct_id: string
  person_id: number
}

export interface PersonSeenRow {
  person_id: number
  seen_on: string
}

export interface HashKeyOverrideRow {
  person_id: number
  flag_key: string
  hash_key: string
}

export interface GroupRow {
  id: Generated<number>
  project_id: number
  type_index: number
  key: string
  properties: string
  version: number
  created_at: string
}

export interface FlagUsageRow {
  id: Generated<number>
  project_id: number
  flag_key: string
  kind: string
  variant: string
  day: string
  calls: number
  kept_users: number
  sampling_level: number
}

export interface FlagLastUsedRow {
  project_id: number
  flag_key: string
  kind: string
  at: string
}

export interface EventCountRow {
  project_id: number
  event: string
  /** Empty for all events of the name, whatever flags the sender had. */
  flag_key: string
  flag_value: string
  /** Minutes since 1970. */
  minute: number
  count: number
}
