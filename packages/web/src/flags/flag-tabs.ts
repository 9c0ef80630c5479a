export const flagTabs = ['targeting', 'usage', 'schedule', 'history', 'copies', 'code', 'access'] as const
export type FlagTab = (typeof flagTabs)[number]

export const readFlagTab = (search: Record<string, unknown>): { tab?: FlagTab } => {
  const tab = flagTabs.find(name => name === search.tab)
  return tab ? { tab } : {}
}
