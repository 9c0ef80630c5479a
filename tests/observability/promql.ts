import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parser } from '@prometheus-io/lezer-promql'
import { parse as parseYaml } from 'yaml'

const deploy = (...path: string[]) => readFileSync(join(import.meta.dirname, '../../deploy', ...path), 'utf8')

/** A metric that a query selects, with every label that the query uses. */
export interface Selector {
  readonly metric: string
  readonly labels: readonly string[]
}

/** Raises an Error for a query that is not PromQL. */
export function selectorsIn(query: string): Selector[] {
  const metrics: string[] = []
  const labels: string[] = []
  parser.parse(query).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`Not PromQL at character ${node.from}: ${query}`)
      const text = query.slice(node.from, node.to)
      if (node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector') metrics.push(text)
      if (node.name === 'LabelName') labels.push(text)
    },
  })
  return metrics.map(metric => ({ metric, labels }))
}

export interface Panel {
  readonly title: string
  readonly queries: readonly string[]
}

export interface Rule {
  readonly alert: string
  readonly expr: string
}

/** Grafana's own variables, as Grafana fills them in. */
const filledIn = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '5m').replaceAll(/\$(job|instance)\b/g, '.*')

export function readPanels(): Panel[] {
  const { panels } = JSON.parse(deploy('grafana/halyard.json')) as {
    panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[]
  }
  // A row has no queries.
  return panels.flatMap(({ title, targets }) =>
    targets ? [{ title, queries: targets.map(({ expr }) => filledIn(expr)) }] : [],
  )
}

export function readRules(): Rule[] {
  const { groups } = parseYaml(deploy('prometheus/halyard-alerts.yaml')) as {
    groups: readonly { readonly rules: readonly Rule[] }[]
  }
  return groups.flatMap(({ rules }) => rules)
}
