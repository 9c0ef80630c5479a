import { missing } from '../../../problem.ts'
import type { Database, Stores } from '../../../stores.ts'
import { type Actor, adminLevel, type Project, requireLevel } from '../../../tenancy.ts'
import type { Plugin } from '../plugin.ts'
import { requireCanRead } from '../plugin-access.ts'
import type { PluginConfig } from './plugin-config.ts'

/** Raises `forbidden` when the project's organization may not use plugins. */
export async function requireProjectCanRead(tx: Stores, project: Project): Promise<void> {
  const organization = await tx.organizations.find(project.organizationId)
  if (!organization) throw missing('Project')
  requireCanRead(organization)
}

/** Raises `forbidden` for everyone but admins. */
export async function requireCanConfigure(database: Database, actor: Actor, project: Project): Promise<void> {
  await database.read(tx => requireProjectCanRead(tx, project))
  requireLevel(actor, project.organizationId, adminLevel, 'configure plugins')
}

/** Raises `missing`. */
export async function getConfig(tx: Stores, project: Project, id: string): Promise<PluginConfig> {
  await requireProjectCanRead(tx, project)
  const config = await tx.pluginConfigs.find(project.id, Number(id))
  if (!config) throw missing('Plugin configuration')
  return config
}

/** The plugin as the project's organization has accepted it. */
export async function getUsed(tx: Stores, project: Project, config: PluginConfig): Promise<Plugin> {
  const plugin = (await tx.plugins.find(config.pluginId))!
  return (await tx.pluginReleases.use(project.organizationId, plugin)).plugin
}
