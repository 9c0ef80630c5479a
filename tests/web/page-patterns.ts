import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

const sourceOf = (path: string) => readFileSync(new URL(`../../packages/web/src/${path}`, import.meta.url), 'utf8')

/** The names in a list of tabs, from its source: a new tab is visited too. */
const tabsOf = (path: string, list: string): string[] => {
  const names = new RegExp(`const ${list} = \\[([^\\]]*)\\]`).exec(sourceOf(path))?.[1] ?? ''
  const tabNames = [...names.matchAll(/'(\w+)'/g)].map(([, name]) => name!)
  expect(tabNames.length, list).toBeGreaterThan(1)
  return tabNames
}

interface Route {
  readonly parent: string | undefined
  readonly path: string
  /** Leads to another page. */
  readonly isRedirect: boolean
}

/** Path patterns of the router's pages, from its source: a new page is visited too. */
export function pagePatterns(): { pattern: string; isRedirect: boolean }[] {
  const routes = new Map<string, Route>(
    [...sourceOf('app/router.tsx').matchAll(/^const (\w+) = createRoute\(\{([\s\S]*?)\}\)$/gm)].map(
      ([, name, text]) => [
        name!,
        {
          parent: /getParentRoute: \(\) => (\w+)/.exec(text!)?.[1],
          path: /\bpath: '([^']*)'/.exec(text!)?.[1] ?? '',
          isRedirect: !text!.includes('component:'),
        },
      ],
    ),
  )
  const patternOf = (name: string | undefined): string => {
    const route = routes.get(name ?? '')
    return route ? `${patternOf(route.parent)}${route.path === '/' ? '' : route.path}` : ''
  }
  const parents = new Set([...routes.values()].map(({ parent }) => parent))
  return [...routes]
    .filter(([name]) => !parents.has(name))
    .map(([name, { isRedirect }]) => ({ pattern: patternOf(name), isRedirect }))
}

/** The tabs of the pages whose path ends so. Without a name in the address, the first is shown. */
export const pageTabs = () => ({
  '/$flagId': tabsOf('flags/flag-tabs.ts', 'flagTabs'),
  '/$pluginId': tabsOf('plugins/plugin-tabs.ts', 'pluginTabs'),
  '/plugins': tabsOf('plugins/plugin-tabs.ts', 'pluginListTabs'),
})

/** Every path pattern, and every further tab of those that have some. */
export function patternsWithTabs(): { path: string; isRedirect: boolean }[] {
  const tabs = Object.entries(pageTabs())
  return pagePatterns().flatMap(({ pattern, isRedirect }) => {
    const names = tabs.find(([end]) => pattern.endsWith(end))?.[1] ?? []
    return [pattern, ...names.slice(1).map(name => `${pattern}?tab=${name}`)].map(path => ({ path, isRedirect }))
  })
}
