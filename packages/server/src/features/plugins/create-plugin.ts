import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Actor, Organization } from '../../tenancy.ts'
import { findInCatalog } from './install/catalog.ts'
import { isNpmName, npmPageUrl } from './package/plugin-address.ts'
import { applyPatch, newPluginContent, type Plugin, type PluginContent, type PluginPatch } from './plugin.ts'
import { requireCanShare, requireCanWrite } from './plugin-access.ts'
import { recordPlugin } from './record-plugin.ts'

/** Registers a plugin; nothing is fetched. Raises `forbidden`. */
export async function createPlugin(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  patch: PluginPatch,
  now: Instant,
): Promise<Plugin> {
  requireCanWrite(actor, organization)
  if (patch.isGlobal) requireCanShare(organization)
  const content = applyPatch(fromCatalog(patch), patch)
  const plugin = await tx.plugins.create({
    ...content,
    organizationId: organization.id,
    url: addressFor(content),
    privateToken: null,
    installKey: null,
    latestTag: null,
    allowedHosts: [],
    version: 1,
    createdAt: now,
    updatedAt: now,
  })
  await recordPlugin(tx, actor, plugin, { activity: 'installed', changes: [] }, now)
  return plugin
}

/** The content of a new plugin before the body is applied: the catalog entry's, when its name is in the catalog. */
function fromCatalog({ pluginType, name }: PluginPatch): PluginContent {
  const entry = pluginType === 'repository' && name !== undefined ? findInCatalog(name) : undefined
  return entry ? { ...newPluginContent, description: entry.description } : newPluginContent
}

/** Where a plugin of this type and name would be fetched from, if anywhere. */
export function addressFor({ pluginType, name }: Pick<PluginContent, 'pluginType' | 'name'>): string | null {
  switch (pluginType) {
    case 'source':
      return null
    case 'local':
      return `file:${name}`
    case 'custom':
      return isNpmName(name) ? npmPageUrl(name) : null
    case 'repository':
      return findInCatalog(name)?.url ?? null
  }
}
