import type { PageOf, Window } from '../../pagination.ts'
import type { Plugin } from './plugin.ts'

export type NewPlugin = Omit<Plugin, 'id' | 'organizationName' | 'filesDigest'>

export interface PluginStore {
  /** Raises `invalid` (`unique`, `url`) when the organization has installed this address already. */
  create(plugin: NewPlugin): Promise<Plugin>
  /** Saves the plugin whose version is one above the stored one. Raises StaleWrite when it is not. */
  save(plugin: Plugin): Promise<void>
  /** Notes what was found out without changing the plugin. */
  setLatestTag(pluginId: number, latestTag: string): Promise<void>
  /** With its files, code and configurations. */
  remove(pluginId: number): Promise<void>
  find(pluginId: number): Promise<Plugin | undefined>
  /** A plugin that the organization owns, that is global, or that one of its projects has configured. */
  findVisible(organizationId: string, pluginId: number): Promise<Plugin | undefined>
  /** An own plugin with this address. */
  findByUrl(organizationId: string, url: string): Promise<Plugin | undefined>
  /** The visible ones, by id. */
  listVisible(organizationId: string, window: Window): Promise<PageOf<Plugin>>
  /** Ids of own plugins without an enabled configuration in any project of the organization, ascending. */
  listUnused(organizationId: string): Promise<readonly number[]>

  /** File name → text, by name. */
  listFiles(pluginId: number): Promise<ReadonlyMap<string, string>>
  /** Replaces all files, and the code that they compile to; undefined when there is none. */
  replaceFiles(pluginId: number, files: ReadonlyMap<string, string>, code: string | undefined): Promise<void>
  findCode(pluginId: number): Promise<string | undefined>
}
