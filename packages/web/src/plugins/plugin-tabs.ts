import type { PluginConfig, UsedPlugin } from './plugin-queries.ts'

export const pluginTabs = ['settings', 'source', 'log', 'metrics', 'jobs', 'activity', 'about'] as const
export type PluginTab = (typeof pluginTabs)[number]

export const readPluginTab = (search: Record<string, unknown>): { tab?: PluginTab | undefined } => ({
  // Always present: otherwise an unknown value in the URL would be kept.
  tab: pluginTabs.find(name => name === search.tab),
})

export const pluginListTabs = ['installed', 'order', 'catalog', 'activity'] as const
export type PluginListTab = (typeof pluginListTabs)[number]

export const readPluginListTab = (search: Record<string, unknown>): { tab?: PluginListTab | undefined } => ({
  // Always present: otherwise an unknown value in the URL would be kept.
  tab: pluginListTabs.find(name => name === search.tab),
})

/** The props of every plugin tab. */
export interface PluginProps {
  readonly plugin: UsedPlugin
  /** The current organization, which may not own the plugin. */
  readonly organizationId: string
  readonly isAdmin: boolean
  /** Whether the plugin itself can be changed here. */
  readonly isWritable: boolean
}

export interface ProjectPluginProps extends PluginProps {
  readonly projectId: string
}

export interface ConfiguredProps extends ProjectPluginProps {
  readonly config: PluginConfig
}
