import type { Generated } from 'kysely'

/** Rows of imports from other services. */
export interface ImportTables {
  import_plans: ImportPlanRow
  import_plan_items: ImportPlanItemRow
  import_links: ImportLinkRow
  import_certificates: ImportCertificateRow
}

export interface ImportCertificateRow {
  id: Generated<number>
  project_id: number
  /** The plan may be gone. */
  import_id: number | null
  /** JSON of the numbers, for lists. */
  summary: string
  /** JSON. */
  certificate: string
  created_at: string
}

export interface ImportPlanRow {
  id: Generated<number>
  organization_id: string
  source: string
  /** JSON: `[{projectId, environment, name}]`. */
  targets: string
  /** The name of the environment set to create. */
  new_environment_set: string | null
  created_by_id: number
  created_at: string
  expires_at: string
  applied_at: string | null
}

export interface ImportPlanItemRow {
  plan_id: number
  position: number
  /** Index in the plan's targets. */
  target: number
  /** Null until the project is created. */
  project_id: number | null
  kind: string
  source_id: string
  source_key: string
  status: string
  /** JSON: `[{message, path}]`. */
  reasons: string
  drift: string
  /** JSON of the converted flag or cohort; null when refused. */
  definition: string | null
  outcome: string | null
}

export interface ImportLinkRow {
  project_id: number
  source: string
  kind: string
  source_id: string
  flag_id: number | null
  cohort_id: number | null
  source_hash: string
  target_hash: string
  imported_at: string
}
