import type { Plugin } from '@halyard/contract'
import type { PluginConfig } from './plugin-queries.ts'

export const pluginTabs = ['settings', 'source', 'log', 'metrics', 'jobs', 'activity', 'about'] as const
export type PluginTab = (typeof pluginTabs)[number]

export const readPluginTab = (search: Record<string, unknown>): { tab?: PluginTab | undefined } => ({
  // Always named: what the address says would shine through otherwise, whether there is such a tab or not.
  tab: pluginTabs.find(name => name === search.tab),
})

export const pluginListTabs = ['installed', 'order', 'catalogue', 'activity'] as const
export type PluginListTab = (typeof pluginListTabs)[number]

export const readPluginListTab = (search: Record<string, unknown>): { tab?: PluginListTab | undefined } => ({
  // Always named: what the address says would shine through otherwise, whether there is such a tab or not.
  tab: pluginListTabs.find(name => name === search.tab),
})

/** What the tabs of a plugin are given. */
export interface PluginProps {
  readonly plugin: Plugin
  /** The organization that looks at it, which need not be the one that owns it. */
  readonly organizationId: string
  readonly isAdmin: boolean
  /** Whether the plugin itself may be changed here. */
  readonly isWritable: boolean
}

export interface ProjectPluginProps extends PluginProps {
  readonly projectId: string
}

export interface ConfiguredProps extends ProjectPluginProps {
  readonly config: PluginConfig
}
