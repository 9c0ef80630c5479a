import { parser } from '@prometheus-io/lezer-promql'
import { type Labels, parseNumber, type Sample, type Scrape } from './scrapes.ts'

/**
 * Evaluates the part of PromQL that the dashboard and the alert rules use, over scrapes, at the time of the last one. Follows Prometheus,
 * including the extrapolation of `rate`. Raises an Error for everything else.
 */
export function evaluateQuery(query: string, scrapes: readonly Scrape[]): Sample[] {
  const result = evaluate(parser.parse(query).topNode.firstChild!, { query, scrapes })
  if (typeof result === 'number') throw new Error(`Not a vector: ${query}`)
  return result
}

interface Context {
  readonly query: string
  readonly scrapes: readonly Scrape[]
}

type Node = NonNullable<ReturnType<typeof parser.parse>['topNode']['firstChild']>
type Value = number | Sample[]

const lookbackSeconds = 300

const evaluators: Readonly<Record<string, (node: Node, context: Context) => Value>> = {
  NumberDurationLiteral: (node, context) => parseNumber(textOf(node, context)),
  VectorSelector: selectInstant,
  AggregateExpr: aggregate,
  FunctionCall: callFunction,
  BinaryExpr: applyOperator,
}

function evaluate(node: Node, context: Context): Value {
  const evaluator = evaluators[node.name]
  if (!evaluator) throw new Error(`Unknown: ${node.name} in ${context.query}`)
  return evaluator(node, context)
}

const textOf = (node: Node, { query }: Context): string => query.slice(node.from, node.to)

function vectorOf(node: Node, context: Context): Sample[] {
  const value = evaluate(node, context)
  if (typeof value === 'number') throw new Error(`A vector is expected: ${textOf(node, context)}`)
  return value
}

function childOf(node: Node, name: string): Node {
  const child = node.getChild(name)
  if (!child) throw new Error(`${node.name} without ${name}`)
  return child
}

function childrenOf(node: Node): Node[] {
  const children: Node[] = []
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child)
  return children
}

/** Arguments of a function or an aggregation. */
const argumentsOf = (node: Node): Node[] => childrenOf(childOf(node, 'FunctionCallBody'))

// Selectors

interface Series {
  readonly labels: Labels
  readonly points: readonly { readonly time: number; readonly value: number }[]
}

/** Series of a selector with their points of the last `seconds`. */
function selectSeries(selector: Node, seconds: number, context: Context): Series[] {
  const matches = matcherOf(selector, context)
  const end = context.scrapes.at(-1)!.time
  const found = new Map<string, { labels: Labels; points: { time: number; value: number }[] }>()
  for (const { time, samples } of context.scrapes) {
    if (time < end - seconds) continue
    for (const { labels, value } of samples) {
      if (!matches(labels)) continue
      const series = found.get(keyOf(labels)) ?? { labels, points: [] }
      series.points.push({ time, value })
      found.set(keyOf(labels), series)
    }
  }
  return [...found.values()]
}

function matcherOf(selector: Node, context: Context): (labels: Labels) => boolean {
  const name = textOf(childOf(selector, 'Identifier'), context)
  const matchers = selector.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []
  const tests = matchers.map(matcher => {
    const label = textOf(childOf(matcher, 'LabelName'), context)
    const wanted = JSON.parse(textOf(childOf(matcher, 'StringLiteral'), context)) as string
    const operator = textOf(childOf(matcher, 'MatchOp'), context)
    if (operator === '=') return (labels: Labels) => (labels[label] ?? '') === wanted
    if (operator !== '=~') throw new Error(`Unknown: ${operator} in ${context.query}`)
    const pattern = new RegExp(`^(?:${wanted})$`)
    return (labels: Labels) => pattern.test(labels[label] ?? '')
  })
  return labels => labels.__name__ === name && tests.every(test => test(labels))
}

/** A series that the last scrape lacks is stale. */
function selectInstant(node: Node, context: Context): Sample[] {
  const end = context.scrapes.at(-1)!.time
  return selectSeries(node, lookbackSeconds, context)
    .filter(({ points }) => points.at(-1)!.time === end)
    .map(({ labels, points }) => ({ labels, value: points.at(-1)!.value }))
}

const secondsPerUnit: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }

function secondsOf(duration: string): number {
  const [, count, unit] = /^(\d+)([smh])$/.exec(duration) ?? []
  if (!count || !unit) throw new Error(`Unknown: duration ${duration}`)
  return Number(count) * secondsPerUnit[unit]!
}

// Functions

function callFunction(node: Node, context: Context): Sample[] {
  const name = textOf(childOf(node, 'FunctionIdentifier'), context)
  const [first, second] = argumentsOf(node)
  if (name === 'rate' && first?.name === 'MatrixSelector') {
    const seconds = secondsOf(textOf(childOf(first, 'DurationExpr'), context))
    const end = context.scrapes.at(-1)!.time
    return selectSeries(childOf(first, 'VectorSelector'), seconds, context)
      .filter(({ points }) => points.length > 1)
      .map(({ labels, points }) => ({ labels: withoutName(labels), value: rateOf(points, end - seconds, end) }))
  }
  if (name === 'histogram_quantile' && first && second) {
    return quantiles(evaluate(first, context) as number, vectorOf(second, context))
  }
  throw new Error(`Unknown: ${name}() in ${context.query}`)
}

/** Increase per second. It is extrapolated to the whole window, but only by half an interval where samples are missing. */
function rateOf(points: Series['points'], start: number, end: number): number {
  const first = points[0]!
  const last = points.at(-1)!
  const resets = points.map(({ value }, index) => {
    const before = points[index - 1]?.value ?? 0
    return value < before ? before : 0
  })
  const increase = last.value - first.value + sumOf(resets)
  const sampled = last.time - first.time
  const interval = sampled / (points.length - 1)
  // A counter cannot have been below zero.
  const toZero = increase > 0 ? (sampled * first.value) / increase : Number.POSITIVE_INFINITY
  const margin = (seconds: number) => (seconds < interval * 1.1 ? seconds : interval / 2)
  const extrapolated = sampled + margin(Math.min(first.time - start, toZero)) + margin(end - last.time)
  return (increase * extrapolated) / sampled / (end - start)
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

function quantiles(quantile: number, buckets: readonly Sample[]): Sample[] {
  const withoutBound = ({ labels: { le: _le, __name__: _name, ...labels } }: Sample) => labels
  return groupBy(buckets, withoutBound).map(([labels, group]) => ({
    labels,
    value: quantileOf(
      quantile,
      group
        .map(({ labels: { le }, value }) => ({ bound: parseNumber(le!), count: value }))
        .sort((a, b) => a.bound - b.bound),
    ),
  }))
}

/** Linear within the bucket of the quantile. */
function quantileOf(quantile: number, buckets: readonly { readonly bound: number; readonly count: number }[]): number {
  const last = buckets.at(-1)!
  if (last.bound !== Number.POSITIVE_INFINITY || buckets.length < 2 || last.count === 0) return Number.NaN
  const rank = quantile * last.count
  const index = buckets.findIndex(({ count }) => count >= rank)
  if (index === buckets.length - 1) return buckets.at(-2)!.bound
  const { bound, count } = buckets[index]!
  if (index === 0 && bound <= 0) return bound
  const below = buckets[index - 1] ?? { bound: 0, count: 0 }
  return below.bound + ((bound - below.bound) * (rank - below.count)) / (count - below.count)
}

// Aggregations

function aggregate(node: Node, context: Context): Sample[] {
  const operation = textOf(childOf(node, 'AggregateOp'), context)
  const modifier = node.getChild('AggregateModifier')
  if (modifier && !modifier.getChild('By')) throw new Error(`Unknown: ${textOf(modifier, context)}`)
  const labelNodes = modifier?.getChild('GroupingLabels')?.getChildren('LabelName') ?? []
  const by = labelNodes.map(label => textOf(label, context))
  const args = argumentsOf(node)
  const groups = groupBy(vectorOf(args.at(-1)!, context), ({ labels }) =>
    Object.fromEntries(by.flatMap(label => (labels[label] ? [[label, labels[label]]] : []))),
  )
  const reduce = (value: (values: readonly number[]) => number) =>
    groups.map(([labels, group]) => ({ labels, value: value(group.map(sample => sample.value)) }))
  if (operation === 'sum') return reduce(sumOf)
  if (operation === 'max') return reduce(maxOf)
  if (operation === 'topk') {
    const count = evaluate(args[0]!, context) as number
    return groups.flatMap(([, group]) => [...group].sort(descending).slice(0, count))
  }
  throw new Error(`Unknown: ${operation} in ${context.query}`)
}

/** NaN is the smallest value. */
const maxOf = (values: readonly number[]): number => {
  const numbers = values.filter(value => !Number.isNaN(value))
  return numbers.length > 0 ? Math.max(...numbers) : Number.NaN
}
const rankOf = ({ value }: Sample): number => (Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value)
const descending = (a: Sample, b: Sample): number => {
  const [left, right] = [rankOf(a), rankOf(b)]
  return left === right ? 0 : right > left ? 1 : -1
}

// Operators

const comparisons: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  '>': (left, right) => left > right,
  '==': (left, right) => left === right,
}

function applyOperator(node: Node, context: Context): Sample[] {
  const [leftNode, operatorNode, rightNode, ...more] = childrenOf(node)
  if (!leftNode || !operatorNode || !rightNode || more.length > 0) throw new Error(`Unknown: ${textOf(node, context)}`)
  const operator = textOf(operatorNode, context)
  const left = vectorOf(leftNode, context)
  const right = evaluate(rightNode, context)
  const compare = comparisons[operator]
  if (compare && typeof right === 'number') return left.filter(({ value }) => compare(value, right))
  if (typeof right !== 'number') {
    const matching = new Map(right.map(sample => [keyOf(withoutName(sample.labels)), sample]))
    if (operator === 'or') {
      const present = new Set(left.map(({ labels }) => keyOf(withoutName(labels))))
      return [...left, ...right.filter(({ labels }) => !present.has(keyOf(withoutName(labels))))]
    }
    if (operator === '/') {
      return left.flatMap(({ labels, value }) => {
        const divisor = matching.get(keyOf(withoutName(labels)))
        return divisor ? [{ labels: withoutName(labels), value: value / divisor.value }] : []
      })
    }
  }
  throw new Error(`Unknown: ${operator} in ${context.query}`)
}

// Labels

const withoutName = ({ __name__: _name, ...labels }: Labels): Labels => labels

const keyOf = (labels: Labels): string => JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))

function groupBy(samples: readonly Sample[], labelsOf: (sample: Sample) => Labels): [Labels, Sample[]][] {
  const groups = new Map<string, [Labels, Sample[]]>()
  for (const sample of samples) {
    const labels = labelsOf(sample)
    const group = groups.get(keyOf(labels)) ?? [labels, []]
    group[1].push(sample)
    groups.set(keyOf(labels), group)
  }
  return [...groups.values()]
}
