import type { Kysely, Selectable } from 'kysely'
import type { PageOf, Window } from '../../../pagination.ts'
import { uniqueViolation } from '../../../storage/driver-error.ts'
import { readPage } from '../../../storage/read-page.ts'
import { StaleWrite, saveVersioned } from '../../../storage/save-row.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import { sqlPluginStore } from '../plugin-store.sql.ts'
import { sqlPluginReleaseStore } from '../releases/plugin-release-store.sql.ts'
import type { AttachmentInfo, EnabledConfig, NewAttachment, PluginConfig, StoredAttachment } from './plugin-config.ts'

export function sqlPluginConfigStore(db: Kysely<Tables>) {
  const plugins = sqlPluginStore(db)
  const releases = sqlPluginReleaseStore(db)
  return {
    /** Raises StaleWrite when the project has a configuration of the plugin already. */
    async create(config: Omit<PluginConfig, 'id'>): Promise<PluginConfig> {
      const { id } = await db
        .insertInto('plugin_configs')
        .values(fromConfig(config))
        .returning('id')
        .executeTakeFirstOrThrow()
        .catch(error => {
          throw uniqueViolation(error) === undefined ? error : new StaleWrite()
        })
      return { ...config, id }
    },
    /** Saves the configuration whose version is one above the stored one. Raises StaleWrite when it is not. */
    async save(config: PluginConfig): Promise<void> {
      await saveVersioned(db, 'plugin_configs', config.id, fromConfig(config))
    },
    async find(projectId: number, configId: number): Promise<PluginConfig | undefined> {
      const row = await db
        .selectFrom('plugin_configs')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', configId)
        .executeTakeFirst()
      return row && toConfig(row)
    },
    async findByPlugin(projectId: number, pluginId: number): Promise<PluginConfig | undefined> {
      const row = await db
        .selectFrom('plugin_configs')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('plugin_id', '=', pluginId)
        .executeTakeFirst()
      return row && toConfig(row)
    },
    /** Those that are not deleted, in their order. */
    list(projectId: number, window: Window): Promise<PageOf<PluginConfig>> {
      const live = db
        .selectFrom('plugin_configs')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('deleted', '=', 0)
        .orderBy('position')
        .orderBy('plugin_id')
      return readPage(live, window, toConfig)
    },
    /** Ids of the configurations of a plugin, in all projects. */
    async listIds(pluginId: number): Promise<readonly number[]> {
      const rows = await db.selectFrom('plugin_configs').select('id').where('plugin_id', '=', pluginId).execute()
      return rows.map(row => row.id)
    },
    /** The next free position. */
    async nextPosition(projectId: number): Promise<number> {
      const row = await db
        .selectFrom('plugin_configs')
        .select(({ fn }) => fn.max('position').as('last'))
        .where('project_id', '=', projectId)
        .executeTakeFirst()
      return Number(row?.last ?? 0) + 1
    },
    /** Everything that runs, in all projects whose organization may use plugins or in one of them, in order. */
    async listEnabled(projectId?: number): Promise<readonly EnabledConfig[]> {
      const rows = await db
        .selectFrom('plugin_configs')
        .innerJoin('projects', 'projects.id', 'plugin_configs.project_id')
        .innerJoin('organizations', 'organizations.id', 'projects.organization_id')
        .selectAll('plugin_configs')
        .select('organizations.id as organization_id')
        .where('plugin_configs.enabled', '=', 1)
        .where('plugin_configs.deleted', '=', 0)
        .where('organizations.plugins_access_level', '>', 0)
        .$if(projectId !== undefined, query => query.where('plugin_configs.project_id', '=', projectId!))
        .orderBy('plugin_configs.position')
        .orderBy('plugin_configs.plugin_id')
        .execute()
      const ids = [...new Set(rows.map(row => row.plugin_id))]
      const pluginsById = new Map(
        (await Promise.all(ids.map(id => plugins.find(id)))).map(plugin => [plugin?.id, plugin]),
      )
      const enabled: EnabledConfig[] = []
      for (const row of rows) {
        const plugin = pluginsById.get(row.plugin_id)
        const used = plugin && (await releases.use(row.organization_id, plugin))
        if (!used?.isAccepted) continue
        const { plugin: accepted, pinnedDigest } = used
        enabled.push({ config: toConfig(row), plugin: accepted, pinnedDigest, organizationId: row.organization_id })
      }
      return enabled
    },

    async listAttachments(configIds: readonly number[]): Promise<ReadonlyMap<number, readonly AttachmentInfo[]>> {
      const byConfig = new Map<number, AttachmentInfo[]>(configIds.map(id => [id, []]))
      if (configIds.length === 0) return byConfig
      const rows = await db
        .selectFrom('plugin_attachments')
        .select(['id', 'config_id', 'key', 'file_name', 'content_type', 'size_bytes'])
        .where('config_id', 'in', configIds)
        .orderBy('key')
        .execute()
      for (const row of rows) byConfig.get(row.config_id)?.push(toInfo(row))
      return byConfig
    },
    /** With their contents. */
    async readAttachments(configId: number): Promise<readonly StoredAttachment[]> {
      const rows = await db.selectFrom('plugin_attachments').selectAll().where('config_id', '=', configId).execute()
      return rows.map(row => ({ ...toInfo(row), contentsBase64: row.contents_base64 }))
    },
    /** Adds or replaces; the id of a replaced one stays. */
    async putAttachment(
      configId: number,
      key: string,
      { fileName, contentType, contentsBase64 }: NewAttachment,
    ): Promise<void> {
      const values = {
        file_name: fileName,
        content_type: contentType,
        size_bytes: Buffer.byteLength(contentsBase64, 'base64'),
        contents_base64: contentsBase64,
      }
      await db
        .insertInto('plugin_attachments')
        .values({ config_id: configId, key, ...values })
        .onConflict(conflict => conflict.columns(['config_id', 'key']).doUpdateSet(values))
        .execute()
    },
    async removeAttachment(configId: number, key: string): Promise<void> {
      await db.deleteFrom('plugin_attachments').where('config_id', '=', configId).where('key', '=', key).execute()
    },
  }
}

const toInfo = (row: Omit<Selectable<Tables['plugin_attachments']>, 'contents_base64'>): AttachmentInfo => ({
  id: row.id,
  key: row.key,
  fileName: row.file_name,
  contentType: row.content_type,
  sizeBytes: row.size_bytes,
})

const toConfig = (row: Selectable<Tables['plugin_configs']>): PluginConfig => ({
  id: row.id,
  projectId: row.project_id,
  pluginId: row.plugin_id,
  enabled: row.enabled === 1,
  position: row.position,
  values: JSON.parse(row.config),
  sealedSecrets: row.secrets,
  error: row.error === null ? null : JSON.parse(row.error),
  name: row.name,
  description: row.description,
  deleted: row.deleted === 1,
  allowedHosts: JSON.parse(row.allowed_hosts),
  version: row.version,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const fromConfig = (config: Omit<PluginConfig, 'id'>): Omit<Selectable<Tables['plugin_configs']>, 'id'> => ({
  project_id: config.projectId,
  plugin_id: config.pluginId,
  enabled: Number(config.enabled),
  position: config.position,
  config: JSON.stringify(config.values),
  secrets: config.sealedSecrets,
  error: config.error === null ? null : JSON.stringify(config.error),
  name: config.name,
  description: config.description,
  deleted: Number(config.deleted),
  allowed_hosts: JSON.stringify(config.allowedHosts),
  version: config.version,
  created_at: config.createdAt,
  updated_at: config.updatedAt,
})
