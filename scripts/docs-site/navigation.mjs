// The sidebar of the docs site. Architecture decision records are added from their folder.

const sections = [
  { title: 'Start', pages: ['index', 'concepts', 'guide/dashboard'] },
  {
    title: 'Quick starts',
    pages: [
      'index',
      'node',
      'browser',
      'react',
      'nextjs',
      'python',
      'go',
      'ruby',
      'php',
      'java',
      'dotnet',
      'ios',
      'android',
      'flutter',
      'openfeature',
    ].map(name => `quick-start/${name}`),
  },
  {
    title: 'How-to',
    pages: [
      'guide/how-to',
      'guide/sdks',
      'guide/typed-flags',
      'guide/code-references',
      'guide/develop-offline',
      'guide/toolbar',
      'guide/cohorts',
      'guide/events',
      'guide/schedules',
      'guide/change-control',
      'guide/webhooks',
      'guide/accounts',
      'guide/single-sign-on',
      'guide/scim',
      'guide/token-exchange',
      'guide/rollback',
      'guide/history-and-copies',
    ],
  },
  { title: 'Plugins', pages: ['guide/plugin-tutorial', 'guide/plugins'] },
  { title: 'API tutorial', pages: ['guide/api-tutorial'] },
  {
    title: 'Reference',
    pages: [
      'reference/flag-definition',
      'reference/settings',
      'reference/command-line',
      'reference/errors',
      'reference/metrics',
      'operate/limits',
      'glossary',
    ],
  },
  {
    title: 'Operate',
    pages: [
      'operate/deploy',
      'operate/reverse-proxy',
      'operate/sizing',
      'operate/scale',
      'operate/data',
      'operate/upgrade',
      'operate/security',
      'operate/audit-log',
      'operate/high-availability',
      'operate/nodes',
      'operate/edge',
      'operate/load',
      'operate/clickhouse',
      'operate/persons-database',
      'operate/faults',
      'operate/troubleshooting',
    ],
  },
  {
    title: 'Migrate',
    pages: [
      'launchdarkly',
      'posthog',
      'unleash',
      'growthbook',
      'flagsmith',
      'flagd',
      'go-feature-flag',
      'flipt',
      'configcat',
    ].map(name => `migrate/${name}`),
  },
  { title: 'Compatibility', pages: ['compatibility/posthog'] },
  { title: 'Internals', pages: ['ARCHITECTURE', 'internals/reliability', 'reference/performance'] },
]

/**
 * Sections of the sidebar for these pages (paths without .md), in reading order. A page that is not listed follows the other
 * pages of its folder.
 */
export function navigation(paths) {
  const order = sections.flatMap(({ pages }) => pages)
  const listed = new Set(order)
  const wrong = order.filter((path, index) => !paths.includes(path) || order.indexOf(path) !== index)
  if (wrong.length > 0)
    throw new Error(`docs-site/navigation.mjs lists missing pages or one twice: ${wrong.join(', ')}`)
  const decisions = { title: 'Decisions', pages: paths.filter(path => path.startsWith('adr/')).sort() }
  const all = [...sections.map(({ title, pages }) => ({ title, pages: [...pages] })), decisions]
  for (const path of paths) {
    if (listed.has(path) || path.startsWith('adr/')) continue
    const folder = path.slice(0, path.lastIndexOf('/') + 1)
    const home = all.findLast(({ pages }) => pages.some(page => page.startsWith(folder))) ?? all.at(-2)
    home.pages.push(path)
  }
  return all
}
