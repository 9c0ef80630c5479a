import type { Author } from '../../../domain/activity.ts'
import type { Instant } from '../../../instant.ts'
import { Problem } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import { type Actor, adminLevel, type Organization, requireLevel } from '../../../tenancy.ts'
import type { Plugin } from '../plugin.ts'
import { getVisible, requireCanRead } from '../plugin-access.ts'
import { recordPlugin } from '../record-plugin.ts'
import { subscribeIfCapabilityAdded } from '../runtime/delivery/flag-delivery.ts'
import { releaseContentOf, releaseDigest } from './plugin-release.ts'

/**
 * Accepts the current release of the plugin for the organization's projects. `seen` is the digest that the caller
 * reviewed. Raises `missing`, `forbidden`, and `conflict` when the plugin has changed since.
 */
export async function acceptRelease(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  pluginId: number,
  seen: string | undefined,
  now: Instant,
): Promise<Plugin> {
  requireCanRead(organization)
  requireLevel(actor, organization.id, adminLevel, 'accept plugins')
  const plugin = await getVisible(tx, organization, pluginId)
  if (seen !== undefined && seen !== releaseDigest(plugin)) {
    throw new Problem('conflict', 'The plugin has changed since this release. Review it again, then accept it.')
  }
  await accept(tx, actor, organization.id, plugin, now)
  return plugin
}

/** Configuring or enabling a plugin for the first time accepts it as it is; later changes need their own acceptance. */
export async function acceptFirstRelease(
  tx: Stores,
  author: Author,
  organizationId: string,
  plugin: Plugin,
  now: Instant,
): Promise<void> {
  const { isAccepted } = await tx.pluginReleases.use(organizationId, plugin)
  if (!isAccepted) await accept(tx, author, organizationId, plugin, now)
}

async function accept(tx: Stores, author: Author, organizationId: string, plugin: Plugin, now: Instant): Promise<void> {
  const before = await tx.pluginReleases.use(organizationId, plugin)
  if (!before.updateAvailable) return
  const [pluginId, digest] = [plugin.id, releaseDigest(plugin)]
  const [code, files] = [await tx.plugins.findCode(pluginId), await tx.plugins.listFiles(pluginId)]
  await tx.pluginReleases.accept(
    { organizationId, pluginId, digest, acceptedAt: now },
    { pluginId, digest, content: releaseContentOf(plugin), code, files },
  )
  if (before.isAccepted) await subscribeIfCapabilityAdded(tx, before.plugin, plugin, now, organizationId)
  const accepted = { id: pluginId, organizationId, name: plugin.name }
  const change = {
    action: 'changed',
    field: 'release',
    before: before.pinnedDigest ?? null,
    after: digest,
  } as const
  await recordPlugin(tx, author, accepted, { activity: 'release_accepted', changes: [change] }, now)
}
