import type { Generated } from 'kysely'

/** Rows of what is stored about flags beside their definitions. */
export interface FlagDetailTables {
  flag_details: FlagDetailsRow
  flag_comments: FlagCommentRow
  saved_views: SavedViewRow
  favorite_flags: { project_id: number; user_id: number; flag_id: number }
  payload_schemas: PayloadSchemaRow
  code_repositories: CodeRepositoryRow
  code_references: CodeReferenceRow
}

interface FlagDetailsRow {
  flag_id: number
  project_id: number
  owner_id: number | null
  /** A day, `YYYY-MM-DD`. */
  expected_end: string | null
  links: string
}

interface FlagCommentRow {
  id: Generated<number>
  flag_id: number
  project_id: number
  created_by_id: number
  text: string
  created_at: string
}

export interface SavedViewRow {
  id: Generated<number>
  project_id: number
  user_id: number
  name: string
  query: string
  is_shared: number
  created_at: string
}

interface PayloadSchemaRow {
  flag_id: number
  project_id: number
  schema: string
  updated_at: string
}

interface CodeRepositoryRow {
  id: Generated<number>
  project_id: number
  name: string
  branch: string | null
  commit_hash: string | null
  scanned_at: string
}

interface CodeReferenceRow {
  repository_id: number
  project_id: number
  flag_key: string
  path: string
  line: number
  excerpt: string
}
