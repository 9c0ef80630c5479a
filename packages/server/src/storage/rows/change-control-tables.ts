import type { Generated } from 'kysely'

/** Rows of environment sets and freezes. */
export interface ChangeControlTables {
  environment_sets: EnvironmentSetRow
  environments: EnvironmentRow
  freezes: FreezeRow
}

export interface EnvironmentSetRow {
  id: Generated<number>
  organization_id: string
  name: string
  created_by_id: number
  created_at: string
  updated_at: string
  version: number
}

export interface EnvironmentRow {
  project_id: number
  set_id: number
  name: string
  position: number
  is_production: number
}

export interface FreezeRow {
  id: Generated<number>
  organization_id: string
  environment_set_id: number | null
  project_id: number | null
  tag: string | null
  starts_at: string | null
  ends_at: string | null
  rrule: string | null
  duration_minutes: number | null
  time_zone: string
  reason: string
  /** A JSON list of ids. */
  except_roles: string
  created_by_id: number
  created_at: string
}
