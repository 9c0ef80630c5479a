import type { Instant } from '../../../instant.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Organization } from '../../../tenancy.ts'
import { alreadyInstalled, newPluginContent, type Plugin, type PluginContent, type PluginType } from '../plugin.ts'
import { requireCanShare, requireCanWrite } from '../plugin-access.ts'
import { recordPlugin } from '../record-plugin.ts'
import type { ReadyPackage } from './plugin-builder.ts'

export interface Installation {
  readonly url: string
  readonly privateToken: string | null
  readonly pluginType: PluginType
  readonly isGlobal: boolean
}

/** Raises `forbidden`, and `invalid` when the address is already installed. Called before anything is fetched. */
export async function checkCanInstall(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  { url, isGlobal }: Pick<Installation, 'url' | 'isGlobal'>,
): Promise<void> {
  requireCanWrite(actor, organization)
  if (isGlobal) requireCanShare(organization)
  if (await tx.plugins.findByUrl(organization.id, url)) throw alreadyInstalled()
}

/** Stores a built package as a new plugin. */
export async function installPlugin(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  { url, privateToken, pluginType, isGlobal }: Installation,
  ready: ReadyPackage,
  now: Instant,
): Promise<Plugin> {
  await checkCanInstall(tx, actor, organization, { url, isGlobal })
  const plugin = await tx.plugins.create({
    ...newPluginContent,
    ...contentOfPackage(ready),
    name: ready.manifest.name ?? newPluginContent.name,
    pluginType,
    isGlobal,
    organizationId: organization.id,
    url,
    privateToken,
    installKey: url,
    tag: ready.tag,
    latestTag: ready.tag,
    allowedHosts: ready.manifest.allowedHosts,
    version: 1,
    createdAt: now,
    updatedAt: now,
  })
  await tx.plugins.replaceFiles(plugin.id, ready.files, ready.code)
  await recordPlugin(tx, actor, plugin, { activity: 'installed', changes: [] }, now)
  return plugin
}

/** The plugin fields that a fetched package determines. */
export function contentOfPackage({ manifest, capabilities }: ReadyPackage) {
  return {
    ...(manifest.name !== undefined && { name: manifest.name }),
    description: manifest.description ?? '',
    icon: manifest.icon ?? null,
    configSchema: manifest.configSchema,
    publicJobs: manifest.publicJobs,
    capabilities: { ...capabilities },
  } satisfies Partial<PluginContent>
}
