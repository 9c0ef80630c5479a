import type { Plugin } from '../plugin.ts'
import type { Acceptance, PluginRelease, UsedPlugin } from './plugin-release.ts'

export interface PluginReleaseStore {
  findAcceptance(organizationId: string, pluginId: number): Promise<Acceptance | undefined>
  /** Replaces the organization's acceptance, and removes releases that no organization has accepted. */
  accept(acceptance: Acceptance, release: PluginRelease): Promise<void>
  findCode(pluginId: number, digest: string): Promise<string | undefined>
  /** Undefined when they were not stored with the release. */
  findFiles(pluginId: number, digest: string): Promise<ReadonlyMap<string, string> | undefined>
  /** The plugin as the organization runs it: its own as it is, another organization's as it was accepted. */
  use(organizationId: string, plugin: Plugin): Promise<UsedPlugin>
}
