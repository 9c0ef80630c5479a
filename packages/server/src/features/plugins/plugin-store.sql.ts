import type { ExpressionBuilder, Kysely, Selectable } from 'kysely'
import type { PageOf, Window } from '../../pagination.ts'
import { uniqueViolation } from '../../storage/driver-error.ts'
import { readPage } from '../../storage/read-page.ts'
import { saveVersioned } from '../../storage/save-row.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { alreadyInstalled, type NewPlugin, type Plugin, type PluginType } from './plugin.ts'
import { digestFiles } from './releases/plugin-release.ts'

export function sqlPluginStore(db: Kysely<Tables>) {
  const plugins = () =>
    db
      .selectFrom('plugins')
      .innerJoin('organizations', 'organizations.id', 'plugins.organization_id')
      .selectAll('plugins')
      .select('organizations.name as organization_name')

  const visibleIds = (organizationId: string) =>
    db
      .selectFrom('plugins')
      .select('plugins.id')
      .where(eb =>
        eb.or([
          eb('plugins.organization_id', '=', organizationId),
          eb('plugins.is_global', '=', 1),
          eb.exists(configsWithin(eb, organizationId).where('plugin_configs.deleted', '=', 0)),
        ]),
      )

  const store = {
    /** Raises `invalid` (`unique`, `url`) when the organization has installed this address already. */
    async create(plugin: NewPlugin): Promise<Plugin> {
      const { id } = await db
        .insertInto('plugins')
        .values(fromPlugin(plugin))
        .returning('id')
        .executeTakeFirstOrThrow()
        .catch(error => {
          throw uniqueViolation(error) === undefined ? error : alreadyInstalled()
        })
      return (await store.find(id))!
    },
    /** Saves the plugin whose version is one above the stored one. Raises StaleWrite when it is not. */
    async save(plugin: Plugin): Promise<void> {
      // A check for updates writes the latest tag without a new version: only `setLatestTag` may write that column.
      const { latest_tag, ...columns } = fromPlugin(plugin)
      await saveVersioned(db, 'plugins', plugin.id, columns)
    },
    /** Notes what was found out without changing the plugin. */
    async setLatestTag(pluginId: number, latestTag: string): Promise<void> {
      await db.updateTable('plugins').set({ latest_tag: latestTag }).where('id', '=', pluginId).execute()
    },
    /** With its files, code and configurations. */
    async remove(pluginId: number): Promise<void> {
      await db.deleteFrom('plugins').where('id', '=', pluginId).execute()
    },
    async find(pluginId: number): Promise<Plugin | undefined> {
      const row = await plugins().where('plugins.id', '=', pluginId).executeTakeFirst()
      return row && toPlugin(row)
    },
    /** A plugin that the organization owns, that is global, or that one of its projects has configured. */
    async findVisible(organizationId: string, pluginId: number): Promise<Plugin | undefined> {
      const row = await plugins()
        .where('plugins.id', '=', pluginId)
        .where('plugins.id', 'in', visibleIds(organizationId))
        .executeTakeFirst()
      return row && toPlugin(row)
    },
    /** An own plugin with this address. */
    async findByUrl(organizationId: string, url: string): Promise<Plugin | undefined> {
      const row = await plugins()
        .where('plugins.organization_id', '=', organizationId)
        .where('plugins.url', '=', url)
        .orderBy('plugins.id')
        .executeTakeFirst()
      return row && toPlugin(row)
    },
    /** The visible ones, by id. */
    listVisible: (organizationId: string, window: Window): Promise<PageOf<Plugin>> =>
      readPage(plugins().where('plugins.id', 'in', visibleIds(organizationId)).orderBy('plugins.id'), window, toPlugin),
    /** Ids of own plugins without an enabled configuration in any project of the organization, ascending. */
    async listUnused(organizationId: string): Promise<readonly number[]> {
      const rows = await db
        .selectFrom('plugins')
        .select('plugins.id')
        .where('plugins.organization_id', '=', organizationId)
        .where(eb => eb.not(eb.exists(configsWithin(eb, organizationId).where('plugin_configs.enabled', '=', 1))))
        .orderBy('plugins.id')
        .execute()
      return rows.map(row => row.id)
    },

    /** File name → text, by name. */
    async listFiles(pluginId: number): Promise<ReadonlyMap<string, string>> {
      const rows = await db
        .selectFrom('plugin_files')
        .selectAll()
        .where('plugin_id', '=', pluginId)
        .orderBy('name')
        .execute()
      return new Map(rows.map(row => [row.name, row.source]))
    },
    /** Replaces all files, and the code that they compile to; undefined when there is none. */
    async replaceFiles(pluginId: number, files: ReadonlyMap<string, string>, code: string | undefined): Promise<void> {
      await db.deleteFrom('plugin_files').where('plugin_id', '=', pluginId).execute()
      await db.deleteFrom('plugin_code').where('plugin_id', '=', pluginId).execute()
      const rows = [...files].map(([name, source]) => ({ plugin_id: pluginId, name, source }))
      if (rows.length > 0) await db.insertInto('plugin_files').values(rows).execute()
      if (code !== undefined) await db.insertInto('plugin_code').values({ plugin_id: pluginId, code }).execute()
      const filesDigest = digestFiles(files, code)
      await db.updateTable('plugins').set({ files_digest: filesDigest }).where('id', '=', pluginId).execute()
    },
    async findCode(pluginId: number): Promise<string | undefined> {
      const row = await db.selectFrom('plugin_code').select('code').where('plugin_id', '=', pluginId).executeTakeFirst()
      return row?.code
    },
  }
  return store
}

/** The configurations of a plugin in the projects of an organization. */
const configsWithin = (eb: ExpressionBuilder<Tables, 'plugins'>, organizationId: string) =>
  eb
    .selectFrom('plugin_configs')
    .innerJoin('projects', 'projects.id', 'plugin_configs.project_id')
    .select('plugin_configs.id')
    .whereRef('plugin_configs.plugin_id', '=', 'plugins.id')
    .where('projects.organization_id', '=', organizationId)

export const toPlugin = (row: Selectable<Tables['plugins']> & { organization_name: string }): Plugin => ({
  id: row.id,
  organizationId: row.organization_id,
  organizationName: row.organization_name,
  pluginType: row.plugin_type as PluginType,
  name: row.name,
  description: row.description,
  url: row.url,
  privateToken: row.private_token,
  icon: row.icon,
  configSchema: JSON.parse(row.config_schema),
  tag: row.tag,
  latestTag: row.latest_tag,
  installKey: row.install_key,
  isGlobal: row.is_global === 1,
  capabilities: JSON.parse(row.capabilities),
  metrics: JSON.parse(row.metrics),
  publicJobs: JSON.parse(row.public_jobs),
  allowedHosts: JSON.parse(row.allowed_hosts),
  filesDigest: row.files_digest,
  version: row.version,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

/** Without the digest of the files, which goes with the files. */
const fromPlugin = (plugin: NewPlugin): Omit<Selectable<Tables['plugins']>, 'id' | 'files_digest'> => ({
  organization_id: plugin.organizationId,
  plugin_type: plugin.pluginType,
  name: plugin.name,
  description: plugin.description,
  url: plugin.url,
  private_token: plugin.privateToken,
  icon: plugin.icon,
  config_schema: JSON.stringify(plugin.configSchema),
  tag: plugin.tag,
  latest_tag: plugin.latestTag,
  install_key: plugin.installKey,
  is_global: Number(plugin.isGlobal),
  capabilities: JSON.stringify(plugin.capabilities),
  metrics: JSON.stringify(plugin.metrics),
  public_jobs: JSON.stringify(plugin.publicJobs),
  allowed_hosts: JSON.stringify(plugin.allowedHosts),
  version: plugin.version,
  created_at: plugin.createdAt,
  updated_at: plugin.updatedAt,
})
