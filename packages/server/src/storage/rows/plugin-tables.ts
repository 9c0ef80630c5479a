import type { Generated } from 'kysely'

/** The rows of plugins, their configurations and their running. The same rules as in `tables.ts`. */
export interface PluginTables {
  plugins: PluginRow
  plugin_files: PluginFileRow
  plugin_code: PluginCodeRow
  plugin_releases: PluginReleaseRow
  plugin_acceptances: PluginAcceptanceRow
  plugin_configs: PluginConfigRow
  plugin_attachments: PluginAttachmentRow
  plugin_storage: PluginStorageRow
  plugin_logs: PluginLogRow
  plugin_jobs: PluginJobRow
  plugin_schedules: PluginScheduleRow
  plugin_metrics: PluginMetricsRow
  plugin_flag_cursors: { flag_id: number; version: number }
}

export interface PluginRow {
  id: Generated<number>
  organization_id: string
  plugin_type: string
  name: string
  description: string
  url: string | null
  /** Encrypted. */
  private_token: string | null
  icon: string | null
  config_schema: string
  tag: string | null
  latest_tag: string | null
  install_key: string | null
  is_global: number
  capabilities: string
  metrics: string
  public_jobs: string
  allowed_hosts: string
  files_digest: Generated<string>
  version: number
  created_at: string
  updated_at: string
}

export interface PluginFileRow {
  plugin_id: number
  name: string
  source: string
}

/** What the files compile to; apart from the plugin because it is large and seldom needed. */
export interface PluginCodeRow {
  plugin_id: number
  code: string
}

/** A plugin as at least one other organization has accepted it. */
export interface PluginReleaseRow {
  plugin_id: number
  digest: string
  content: string
  code: string | null
  /** JSON, name → text; null for releases that were accepted before files were stored. */
  files: string | null
}

export interface PluginAcceptanceRow {
  organization_id: string
  plugin_id: number
  digest: string
  accepted_at: string
}

export interface PluginConfigRow {
  id: Generated<number>
  project_id: number
  plugin_id: number
  enabled: number
  position: number
  config: string
  /** Encrypted JSON of the secret settings. */
  secrets: string | null
  error: string | null
  name: string | null
  description: string | null
  deleted: number
  allowed_hosts: string
  version: number
  created_at: string
  updated_at: string
}

export interface PluginAttachmentRow {
  id: Generated<number>
  config_id: number
  key: string
  file_name: string
  content_type: string
  size_bytes: number
  contents_base64: string
}

export interface PluginStorageRow {
  config_id: number
  key: string
  value: string
}

export interface PluginLogRow {
  id: Generated<number>
  config_id: number
  logged_at: string
  source: string
  type: string
  message: string
  instance_id: string
}

export interface PluginJobRow {
  id: Generated<number>
  config_id: number
  kind: string
  name: string
  payload: string
  run_at: string
  attempts: number
  leased_until: string | null
  created_at: string
}

export interface PluginScheduleRow {
  config_id: number
  task: string
  period: number
}

export interface PluginMetricsRow {
  config_id: number
  hour: string
  calls: number
  failures: number
  dropped_events: number
  cpu_ms: number
  memory_bytes: number
}
