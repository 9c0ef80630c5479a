import type { CohortDefinition, Definitions, EngineOptions, FlagDefinition } from '../definition/definition.ts'
import type { Issue, Report } from '../definition/issue.ts'
import { toText } from '../definition/json.ts'
import { parseCohortFilters } from '../definition/parse-cohort.ts'
import type { ParsedProperty, ValueProperty } from '../definition/parse-property.ts'
import { leavesOf, propertiesIn, type Reference } from '../definition/references.ts'
import { estimateProgramSize, patternLengthMax, programSizeMax, programSizeSumMax } from '../definition/regex-limits.ts'
import { Compiler } from './compiler.ts'
import { compileTest } from './match/compile-test.ts'
import { type Node, nameOf, ReferenceGraph, titleOf } from './reference-graph.ts'

const filtersBytesMax = 512 * 1024

/** The issues that prevent a flag from being saved. An older version of it in `definitions` is ignored. */
export function checkFlag(flag: FlagDefinition, definitions: Definitions, options: EngineOptions): Issue[] {
  const { issues, report } = collect()
  if (isTooLarge(flag.filters, report)) return issues
  if (hasTooManyPatterns(propertiesIn(flag.filters), report)) return issues
  const { filters } = new Compiler(definitions, options).compileFlag(flag, report)
  if (filters === undefined) return issues
  const others = definitions.flags.filter(other => other.id !== flag.id)
  const graph = new ReferenceGraph({ ...definitions, flags: [...others, flag] })
  const conditions =
    filters.superCondition === null ? filters.conditions : [...filters.conditions, filters.superCondition]
  const properties = conditions.flatMap(condition => condition.properties)
  checkReferences({ kind: 'flag', definition: flag }, properties, graph, report)
  return issues
}

/** The issues that prevent a cohort from being saved. */
export function checkCohort(cohort: CohortDefinition, definitions: Definitions, options: EngineOptions): Issue[] {
  const { issues, report } = collect()
  if (isTooLarge(cohort.filters, report)) return issues
  const tree = parseCohortFilters(cohort.filters, report)
  if (tree === undefined) return issues
  const matching = { ...options, propertyMatchingVersion: definitions.propertyMatchingVersion }
  const leaves = leavesOf(tree)
  if (hasTooManyPatterns(leaves, report)) return issues
  for (const leaf of leaves) {
    if (leaf.kind === 'value') checkValue(leaf, matching, report)
    if (leaf.kind !== 'behavior' && leaf.inverted)
      report('invalid_value', `${leaf.path}.inverted`, 'Use `negation: true` within a cohort.')
    if (leaf.kind === 'cohort' && leaf.excluded) {
      report('wrong_operator', `${leaf.path}.operator`, 'Use `negation: true` to exclude a cohort within a cohort.')
    }
  }
  const others = definitions.cohorts.filter(other => other.id !== cohort.id)
  const graph = new ReferenceGraph({ ...definitions, cohorts: [...others, cohort] })
  checkReferences({ kind: 'cohort', definition: cohort }, leaves, graph, report)
  return issues
}

function collect(): { issues: Issue[]; report: Report } {
  const issues: Issue[] = []
  return { issues, report: (code, path, message) => issues.push({ code, path, message }) }
}

function isTooLarge(filters: unknown, report: Report): boolean {
  let length = Number.POSITIVE_INFINITY
  try {
    length = JSON.stringify(filters)?.length ?? 0
  } catch {
    // A value that cannot be serialized cannot be stored.
  }
  if (length <= filtersBytesMax) return false
  const payload = largestPayload(filters, length - filtersBytesMax)
  if (payload === undefined) report('too_large', 'filters', '`filters` is larger than 512 KiB or nested too deeply.')
  else
    report(
      'too_large',
      `filters.payloads.${payload}`,
      `\`filters\` is larger than 512 KiB because of the payload of "${payload}".`,
    )
  return true
}

/** The key of the payload that alone is larger than the excess. */
function largestPayload(filters: unknown, excess: number): string | undefined {
  const payloads: unknown = (filters as { payloads?: unknown } | null)?.payloads
  if (!Number.isFinite(excess) || typeof payloads !== 'object' || payloads === null) return undefined
  const sizes = Object.entries(payloads).map(([key, value]) => ({ key, size: JSON.stringify(value)?.length ?? 0 }))
  const largest = sizes.reduce((a, b) => (b.size > a.size ? b : a), { key: '', size: 0 })
  return largest.size > excess ? largest.key : undefined
}

const patternOperators: ReadonlySet<unknown> = new Set(['regex', 'not_regex', 'text_matches'])

/** Compiling takes time in proportion to the size of all patterns, also when a snapshot is loaded. */
function hasTooManyPatterns(properties: readonly ParsedProperty[], report: Report): boolean {
  let size = 0
  for (const property of properties) {
    if (property.kind !== 'value' || !patternOperators.has(property.operator)) continue
    const pattern = toText(property.value)
    if (pattern.length <= patternLengthMax) size += Math.min(estimateProgramSize(pattern), programSizeMax)
  }
  if (size <= programSizeSumMax) return false
  const limit = `the limit is ${programSizeSumMax}`
  report('regex_too_large', 'filters', `Regular expressions compile to ${size} instructions together; ${limit}.`)
  return true
}

function checkValue(property: ValueProperty, options: Parameters<typeof compileTest>[2], report: Report): void {
  if (property.operator === undefined) return
  const { valueIssue } = compileTest(property.operator, property.value, options)
  if (valueIssue !== undefined) report(valueIssue.code, `${property.path}.value`, valueIssue.message)
}

function checkReferences(
  holder: Node,
  properties: readonly ParsedProperty[],
  graph: ReferenceGraph,
  report: Report,
): void {
  for (const property of properties) {
    if (property.kind === 'cohort' || property.kind === 'flag') checkReference(holder, property, graph, report)
  }
}

function checkReference(holder: Node, reference: Reference, graph: ReferenceGraph, report: Report): void {
  const path = reference.kind === 'flag' ? `${reference.path}.key` : `${reference.path}.value`
  const target = graph.find(reference)
  if (target === undefined) {
    reportUnknown(reference, path, report)
  } else if (nameOf(target) === nameOf(holder)) {
    const what = holder.kind === 'flag' ? 'A flag cannot depend on itself.' : 'A cohort cannot contain itself.'
    report(holder.kind === 'flag' ? 'self_dependency' : 'cohort_cycle', path, what)
  } else {
    checkReached(holder, target, graph, path, report)
  }
}

function reportUnknown(reference: Reference, path: string, report: Report): void {
  if (reference.kind === 'cohort') {
    if (reference.id !== '') report('cohort_does_not_exist', path, `There is no cohort with the id ${reference.id}.`)
  } else if (reference.reference !== '') {
    report('unknown_flag', path, `There is no flag with the id ${reference.reference}.`)
  }
}

function checkReached(holder: Node, target: Node, graph: ReferenceGraph, path: string, report: Report): void {
  const way = graph.path(target, holder)
  if (way !== undefined) {
    const names = [holder, ...way].map(titleOf).join(' → ')
    report(
      holder.kind === 'flag' ? 'flag_cycle' : 'cohort_cycle',
      path,
      `This would create a circular dependency: ${names}.`,
    )
    return
  }
  for (const node of graph.reachable(target)) {
    if (node.kind !== 'cohort') continue
    for (const reference of graph.dangling(node)) reportUnknown(reference, path, report)
    if (graph.next(node).some(next => graph.path(next, node) !== undefined)) {
      report('cohort_cycle', path, `The cohort "${titleOf(node)}" contains itself.`)
    }
  }
}
