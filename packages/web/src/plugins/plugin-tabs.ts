export const pluginTabs = ['settings', 'source', 'log', 'metrics', 'jobs', 'activity', 'about'] as const
export type PluginTab = (typeof pluginTabs)[number]

export const readPluginTab = (search: Record<string, unknown>): { tab?: PluginTab } => {
  const tab = pluginTabs.find(name => name === search.tab)
  return tab ? { tab } : {}
}

export const pluginListTabs = ['installed', 'order', 'catalogue', 'activity'] as const
export type PluginListTab = (typeof pluginListTabs)[number]

export const readPluginListTab = (search: Record<string, unknown>): { tab?: PluginListTab } => {
  const tab = pluginListTabs.find(name => name === search.tab)
  return tab ? { tab } : {}
}
