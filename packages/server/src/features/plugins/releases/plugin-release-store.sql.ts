import type { Kysely } from 'kysely'
import type { Tables } from '../../../storage/tables.generated.ts'
import type { Plugin } from '../plugin.ts'
import {
  type Acceptance,
  type PluginRelease,
  type ReleaseContent,
  releaseDigest,
  type UsedPlugin,
} from './plugin-release.ts'

export function sqlPluginReleaseStore(db: Kysely<Tables>) {
  const store = {
    async findAcceptance(organizationId: string, pluginId: number): Promise<Acceptance | undefined> {
      const row = await db
        .selectFrom('plugin_acceptances')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .where('plugin_id', '=', pluginId)
        .executeTakeFirst()
      return row && { organizationId, pluginId, digest: row.digest, acceptedAt: row.accepted_at }
    },
    /** Replaces the organization's acceptance, and removes releases that no organization has accepted. */
    async accept(
      { organizationId, pluginId, digest, acceptedAt }: Acceptance,
      { content, code, files }: PluginRelease,
    ): Promise<void> {
      await db
        .insertInto('plugin_releases')
        .values({
          plugin_id: pluginId,
          digest,
          content: JSON.stringify(content),
          code: code ?? null,
          files: JSON.stringify(Object.fromEntries(files)),
        })
        .onConflict(conflict => conflict.columns(['plugin_id', 'digest']).doNothing())
        .execute()
      const values = { digest, accepted_at: acceptedAt }
      await db
        .insertInto('plugin_acceptances')
        .values({ organization_id: organizationId, plugin_id: pluginId, ...values })
        .onConflict(conflict => conflict.columns(['organization_id', 'plugin_id']).doUpdateSet(values))
        .execute()
      const accepted = db.selectFrom('plugin_acceptances').select('digest').where('plugin_id', '=', pluginId)
      await db
        .deleteFrom('plugin_releases')
        .where('plugin_id', '=', pluginId)
        .where('digest', 'not in', accepted)
        .execute()
    },
    async findCode(pluginId: number, digest: string): Promise<string | undefined> {
      const row = await release(pluginId, digest).select('code').executeTakeFirst()
      return row?.code ?? undefined
    },
    /** Undefined when they were not stored with the release. */
    async findFiles(pluginId: number, digest: string): Promise<ReadonlyMap<string, string> | undefined> {
      const row = await release(pluginId, digest).select('files').executeTakeFirst()
      return row?.files ? new Map(Object.entries(JSON.parse(row.files) as Record<string, string>)) : undefined
    },
    /** The plugin as the organization runs it: its own as it is, another organization's as it was accepted. */
    async use(organizationId: string, plugin: Plugin): Promise<UsedPlugin> {
      const asItIs = { plugin, pinnedDigest: undefined }
      if (plugin.organizationId === organizationId) return { ...asItIs, isAccepted: true, updateAvailable: false }
      const accepted = await store.findAcceptance(organizationId, plugin.id)
      if (!accepted) return { ...asItIs, isAccepted: false, updateAvailable: true }
      if (accepted.digest === releaseDigest(plugin)) return { ...asItIs, isAccepted: true, updateAvailable: false }
      const row = await release(plugin.id, accepted.digest).select('content').executeTakeFirst()
      if (!row) return { ...asItIs, isAccepted: false, updateAvailable: true }
      const content = JSON.parse(row.content) as ReleaseContent
      return {
        plugin: { ...plugin, ...content },
        pinnedDigest: accepted.digest,
        isAccepted: true,
        updateAvailable: true,
      }
    },
  }

  const release = (pluginId: number, digest: string) =>
    db.selectFrom('plugin_releases').where('plugin_id', '=', pluginId).where('digest', '=', digest)

  return store
}
