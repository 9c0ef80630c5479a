/** Rows of what was observed in events. */
export interface DefinitionTables {
  definitions: DefinitionRow
  definition_values: DefinitionValueRow
  sdk_usage: SdkUsageRow
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
