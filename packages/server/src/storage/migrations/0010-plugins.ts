import type { Migration } from './migration.ts'

/** Plugins with their source, their configurations in projects, and what running them leaves behind. */
export const plugins: Migration = {
  version: 10,
  name: 'plugins',
  async up({ db, text, integer, real, idType, id, run }) {
    await db.schema
      .createTable('plugins')
      .addColumn('id', idType, id)
      .addColumn('organization_id', text, c => c.notNull().references('organizations.id').onDelete('cascade'))
      .addColumn('plugin_type', text, c => c.notNull())
      .addColumn('name', text, c => c.notNull())
      .addColumn('description', text, c => c.notNull())
      .addColumn('url', text)
      .addColumn('private_token', text)
      .addColumn('icon', text)
      .addColumn('config_schema', text, c => c.notNull())
      .addColumn('tag', text)
      .addColumn('latest_tag', text)
      .addColumn('install_key', text)
      .addColumn('is_global', integer, c => c.notNull())
      .addColumn('capabilities', text, c => c.notNull())
      .addColumn('metrics', text, c => c.notNull())
      .addColumn('public_jobs', text, c => c.notNull())
      .addColumn('allowed_hosts', text, c => c.notNull())
      .addColumn('version', integer, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('updated_at', text, c => c.notNull())
      .execute()
    await run('create unique index plugins_installed_once on plugins (organization_id, install_key)')
    await run('create index plugins_by_organization on plugins (organization_id, id)')
    await run('create index plugins_global on plugins (id) where is_global = 1')

    await db.schema
      .createTable('plugin_files')
      .addColumn('plugin_id', integer, c => c.notNull().references('plugins.id').onDelete('cascade'))
      .addColumn('name', text, c => c.notNull())
      .addColumn('source', text, c => c.notNull())
      .addPrimaryKeyConstraint('plugin_files_key', ['plugin_id', 'name'])
      .execute()

    await db.schema
      .createTable('plugin_code')
      .addColumn('plugin_id', integer, c => c.primaryKey().references('plugins.id').onDelete('cascade'))
      .addColumn('code', text, c => c.notNull())
      .execute()

    await db.schema
      .createTable('plugin_configs')
      .addColumn('id', idType, id)
      .addColumn('project_id', integer, c => c.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('plugin_id', integer, c => c.notNull().references('plugins.id').onDelete('cascade'))
      .addColumn('enabled', integer, c => c.notNull())
      .addColumn('position', integer, c => c.notNull())
      .addColumn('config', text, c => c.notNull())
      .addColumn('secrets', text)
      .addColumn('error', text)
      .addColumn('name', text)
      .addColumn('description', text)
      .addColumn('deleted', integer, c => c.notNull())
      .addColumn('allowed_hosts', text, c => c.notNull())
      .addColumn('version', integer, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('updated_at', text, c => c.notNull())
      .addUniqueConstraint('plugin_configs_once', ['project_id', 'plugin_id'])
      .execute()
    await run('create index plugin_configs_by_plugin on plugin_configs (plugin_id)')

    await db.schema
      .createTable('plugin_attachments')
      .addColumn('id', idType, id)
      .addColumn('config_id', integer, c => c.notNull().references('plugin_configs.id').onDelete('cascade'))
      .addColumn('key', text, c => c.notNull())
      .addColumn('file_name', text, c => c.notNull())
      .addColumn('content_type', text, c => c.notNull())
      .addColumn('size_bytes', integer, c => c.notNull())
      .addColumn('contents_base64', text, c => c.notNull())
      .addUniqueConstraint('plugin_attachments_once', ['config_id', 'key'])
      .execute()

    await db.schema
      .createTable('plugin_storage')
      .addColumn('config_id', integer, c => c.notNull().references('plugin_configs.id').onDelete('cascade'))
      .addColumn('key', text, c => c.notNull())
      .addColumn('value', text, c => c.notNull())
      .addPrimaryKeyConstraint('plugin_storage_key', ['config_id', 'key'])
      .execute()

    await db.schema
      .createTable('plugin_logs')
      .addColumn('id', idType, id)
      .addColumn('config_id', integer, c => c.notNull().references('plugin_configs.id').onDelete('cascade'))
      .addColumn('logged_at', text, c => c.notNull())
      .addColumn('source', text, c => c.notNull())
      .addColumn('type', text, c => c.notNull())
      .addColumn('message', text, c => c.notNull())
      .addColumn('instance_id', text, c => c.notNull())
      .execute()
    await run('create index plugin_logs_newest on plugin_logs (config_id, id desc)')

    await db.schema
      .createTable('plugin_jobs')
      .addColumn('id', idType, id)
      .addColumn('config_id', integer, c => c.notNull().references('plugin_configs.id').onDelete('cascade'))
      .addColumn('kind', text, c => c.notNull())
      .addColumn('name', text, c => c.notNull())
      .addColumn('payload', text, c => c.notNull())
      .addColumn('run_at', text, c => c.notNull())
      .addColumn('attempts', integer, c => c.notNull())
      .addColumn('leased_until', text)
      .addColumn('created_at', text, c => c.notNull())
      .execute()
    await run('create index plugin_jobs_due on plugin_jobs (run_at, id)')
    await run('create index plugin_jobs_by_config on plugin_jobs (config_id)')

    await db.schema
      .createTable('plugin_schedules')
      .addColumn('config_id', integer, c => c.notNull().references('plugin_configs.id').onDelete('cascade'))
      .addColumn('task', text, c => c.notNull())
      .addColumn('period', integer, c => c.notNull())
      .addPrimaryKeyConstraint('plugin_schedules_key', ['config_id', 'task'])
      .execute()

    await db.schema
      .createTable('plugin_metrics')
      .addColumn('config_id', integer, c => c.notNull().references('plugin_configs.id').onDelete('cascade'))
      .addColumn('hour', text, c => c.notNull())
      .addColumn('calls', integer, c => c.notNull())
      .addColumn('failures', integer, c => c.notNull())
      .addColumn('dropped_events', integer, c => c.notNull())
      .addColumn('cpu_ms', real, c => c.notNull())
      .addColumn('memory_bytes', integer, c => c.notNull())
      .addPrimaryKeyConstraint('plugin_metrics_key', ['config_id', 'hour'])
      .execute()

    await db.schema
      .createTable('plugin_flag_cursors')
      .addColumn('flag_id', integer, c => c.primaryKey().references('flags.id').onDelete('cascade'))
      .addColumn('version', integer, c => c.notNull())
      .execute()
  },
}
