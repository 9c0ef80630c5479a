import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { edgeKey, type RunningEdge, removeEdgeFolder, startEdge } from '../../packages/server/src/testing/edges.ts'
import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'

/** docs/reference/metrics.md, the dashboard and the alert rules are compared with what a server and an edge really export. */

interface Metric {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly labels: readonly string[]
  readonly aggregation: string
}

let s: Scenario
let edge: RunningEdge
let ofServer: readonly Metric[]
let ofEdge: readonly Metric[]
beforeAll(async () => {
  s = await startScenario('sqlite')
  edge = await startEdge(s.url, await edgeKey(s))
  await s.post(`${s.project}/feature_flags/`, { key: 'flag' })
  ofServer = read((await s.get('/metrics')).text, s.halyard.metrics.registry)
  ofEdge = read((await edge.get('/metrics')).text, edge.edge.metrics.registry)
})
afterAll(async () => {
  await edge.close()
  await removeEdgeFolder(edge.folder)
  await s.close()
})

/** The metrics of a scrape; only the names of labels come from the registry, because a series may not exist yet. */
function read(text: string, registry: Registry): Metric[] {
  const described = registry.getMetricsAsArray() as unknown as readonly (Metric & {
    labelNames?: readonly string[]
    aggregator?: string
  })[]
  return [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm)].map(([, name, help, type]) => {
    const { labelNames = [], aggregator = 'sum' } = described.find(metric => metric.name === name) ?? {}
    return { name: name!, help: help!, type: type!, labels: labelNames, aggregation: aggregator }
  })
}

const isOwn = ({ name }: Metric): boolean => name.startsWith('halyard_')

it('docs/reference/metrics.md lists every metric of a server and of an edge', async () => {
  const names = new Set(ofServer.map(({ name }) => name))
  const edgeOnly = ofEdge.filter(metric => isOwn(metric) && !names.has(metric.name))
  const text = `# Metrics

\`/metrics\` serves these in the text format of Prometheus. With several workers, a scrape returns the metrics of all of
them together: counters and histograms are sums, and so are gauges unless the column "workers" says otherwise.
Metrics of Node and of the process are included as \`nodejs_*\` (such as the event-loop delay,
\`nodejs_eventloop_lag_p99_seconds\`) and \`process_*\`. How to scrape them, the dashboard and the alert rules:
[Monitoring](../operate/monitoring.md).

## Server

${table(ofServer.filter(isOwn))}

## Edge

An edge serves those of a server that do not concern a database, and these.

${table(edgeOnly)}
`
  await expect(text).toMatchFileSnapshot(join(import.meta.dirname, '../../docs/reference/metrics.md'))
})

const table = (metrics: readonly Metric[]): string =>
  [
    '| metric | type | labels | workers | meaning |',
    '|---|---|---|---|---|',
    ...[...metrics]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(
        ({ name, type, labels, aggregation, help }) =>
          `| \`${name}\` | ${type} | ${labels.map(label => `\`${label}\``).join(', ')} | ${aggregation} | ${help} |`,
      ),
  ].join('\n')

it('names and units follow the conventions of Prometheus', () => {
  const own = [...ofServer, ...ofEdge].filter(isOwn)
  expect(own.filter(({ name, type }) => (type === 'counter') !== name.endsWith('_total'))).toEqual([])
  // Prometheus sets these itself, and would rename ours.
  expect(own.filter(({ labels }) => labels.includes('job') || labels.includes('instance'))).toEqual([])
  expect(own.filter(({ name }) => /milliseconds|_ms\b|_kb\b|_mb\b/.test(name))).toEqual([])
  expect(own.filter(({ name, type }) => type === 'histogram' && !name.endsWith('_seconds'))).toEqual([])
})

/** What Prometheus adds when it scrapes. */
const targetLabels = ['job', 'instance', 'le']

// `promtool` checks the syntax of the queries in a workflow.
it.each(['grafana/halyard.json', 'prometheus/halyard-alerts.yaml'])(
  '%s queries metrics and labels that exist',
  file => {
    const all = new Map([...ofServer, ...ofEdge].map(metric => [metric.name, metric]))
    const text = readFileSync(join(import.meta.dirname, '../../deploy', file), 'utf8')
    const selectors = [...text.matchAll(/\b((?:halyard|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)]
    expect(selectors.length).toBeGreaterThan(5)
    const problems = selectors.flatMap(([selector, name, matchers = '']) => {
      const metric = all.get(name!) ?? all.get(name!.replace(/_(bucket|sum|count)$/, ''))
      if (!metric) return [`there is no metric ${name}`]
      const labels = [...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => label!)
      return labels.filter(label => ![...metric.labels, ...targetLabels].includes(label)).map(() => selector)
    })
    const labels = new Set([...targetLabels, ...[...all.values()].flatMap(metric => metric.labels)])
    const grouped = [...text.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names]) => names!.split(', '))
    expect(grouped.filter(label => !labels.has(label))).toEqual([])
    expect(problems).toEqual([])
  },
)
