import type { Generated } from 'kysely'

/** Rows of what was observed in events. */
export interface DefinitionTables {
  definitions: DefinitionRow
  definition_values: DefinitionValueRow
  sdk_usage: SdkUsageRow
  shadow_days: ShadowDayRow
}

interface DefinitionRow {
  project_id: number
  kind: string
  name: string
  property_type: string | null
  created_at: string
  last_seen_at: string
}

interface DefinitionValueRow {
  project_id: number
  name: string
  /** JSON. */
  value: string
  last_seen_at: string
}

interface SdkUsageRow {
  project_id: number
  library: string
  version: string
  calls: number
  first_seen_at: string
  last_seen_at: string
}

export interface ShadowDayRow {
  project_id: number
  flag_id: number
  day: string
  agree: number
  differ: number
  failed: Generated<number>
  differed_at: string | null
  /** JSON: `{there, here, distinctId}`. */
  example: string | null
}
