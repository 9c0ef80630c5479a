import {
  type CohortGroup,
  type ImportedCohort,
  type ImportedFlag,
  type ImportedProject,
  type ImportItem,
  type Property,
  sourceIdOf,
} from './model.ts'

/** Refuses what depends on a flag or cohort that is not imported, or on itself, and puts dependencies first. */
export function refuseDependents(project: ImportedProject): ImportedProject {
  const cohorts = inOrder(
    project.cohorts,
    cohort => usesOfCohort(cohort).cohorts,
    'segment',
    () => undefined,
  )
  const cohortIds = new Set(cohorts.ordered.map(({ sourceId }) => sourceId))
  const flags = inOrder(
    project.flags,
    flag => usesOf(flag).flags,
    'flag',
    flag => {
      const lost = usesOf(flag).cohorts.find(id => !cohortIds.has(id))
      return lost === undefined
        ? undefined
        : `The segment "${lost}" that it depends on is not imported; see its reason.`
    },
  )
  const items = project.items.map((item): ImportItem => {
    const message = (item.kind === 'flag' ? flags : cohorts).refused.get(item.sourceId)
    if (message === undefined || item.status === 'refused') return item
    return { ...item, status: 'refused', reasons: [...item.reasons, { message, path: item.sourceKey }] }
  })
  const imported = { ...project, flags: flags.ordered, cohorts: cohorts.ordered }
  return { ...imported, items: withInheritedDifferences(items, imported) }
}

function inOrder<Node extends ImportedFlag | ImportedCohort>(
  nodes: readonly Node[],
  usesOfNode: (node: Node) => readonly string[],
  what: ImportItem['kind'],
  reasonOf: (node: Node) => string | undefined,
): { readonly ordered: readonly Node[]; readonly refused: ReadonlyMap<string, string> } {
  const byId = new Map(nodes.map(node => [node.sourceId, node]))
  const refused = new Map<string, string>()
  const ordered: Node[] = []
  const state = new Map<string, 'open' | 'done'>()
  const itself = `The ${what} depends on itself through others; remove one of the references.`

  /** Why the node cannot be imported. */
  function visit(node: Node): string | undefined {
    if (state.get(node.sourceId) === 'open') return itself
    if (state.get(node.sourceId) === 'done') return refused.get(node.sourceId)
    state.set(node.sourceId, 'open')
    const reason = reasonOf(node) ?? reasonOfUses(node)
    state.set(node.sourceId, 'done')
    if (reason === undefined) ordered.push(node)
    else refused.set(node.sourceId, reason)
    return reason
  }

  function reasonOfUses(node: Node): string | undefined {
    for (const id of usesOfNode(node)) {
      const other = byId.get(id)
      const reason = other ? visit(other) : ''
      if (reason === itself) return itself
      if (reason !== undefined) return `The ${what} "${id}" that it depends on is not imported; see its reason.`
    }
    return undefined
  }

  for (const node of nodes) visit(node)
  return { ordered, refused }
}

export interface Uses {
  readonly flags: readonly string[]
  readonly cohorts: readonly string[]
}

/** The source ids that the conditions of a flag name. */
export const usesOf = ({ filters }: Pick<ImportedFlag, 'filters'>): Uses =>
  usesIn([...filters.groups, ...superGroupsOf(filters)].flatMap(group => group.properties ?? []))

const superGroupsOf = ({ super_groups: groups }: ImportedFlag['filters']): ImportedFlag['filters']['groups'] =>
  Array.isArray(groups) ? groups : []

export const usesOfCohort = ({ content }: Pick<ImportedCohort, 'content'>): Uses =>
  usesIn('filters' in content ? leavesOf(content.filters.properties) : [])

/** Deeper trees are refused by the engine. */
const depthMax = 100

function leavesOf(group: CohortGroup | undefined, depth = 0): Property[] {
  if (!Array.isArray(group?.values) || depth > depthMax) return []
  return group.values.flatMap(member => ('values' in member ? leavesOf(member, depth + 1) : [member]))
}

function usesIn(properties: readonly Property[]): Uses {
  const idsOf = (type: string, field: 'key' | 'value') =>
    properties.flatMap(property => (property?.type === type ? (sourceIdOf(String(property[field])) ?? []) : []))
  return { flags: [...new Set(idsOf('flag', 'key'))], cohorts: [...new Set(idsOf('cohort', 'value'))] }
}

/** What depends on something approximate is approximate as well. */
function withInheritedDifferences(
  items: readonly ImportItem[],
  { flags, cohorts }: Pick<ImportedProject, 'flags' | 'cohorts'>,
): ImportItem[] {
  const approximate = new Set(
    items.flatMap(({ kind, sourceId, status }) => (status === 'approximate' ? [`${kind} ${sourceId}`] : [])),
  )
  const inherited = new Map<string, string>()
  const inherit = (node: string, uses: Uses) => {
    const used = [...uses.cohorts.map(id => `segment ${id}`), ...uses.flags.map(id => `flag ${id}`)]
    const from = used.find(name => approximate.has(name))
    if (from === undefined || approximate.has(node)) return
    approximate.add(node)
    inherited.set(node, from)
  }
  // Dependencies come first.
  for (const cohort of cohorts) inherit(`segment ${cohort.sourceId}`, usesOfCohort(cohort))
  for (const flag of flags) inherit(`flag ${flag.sourceId}`, usesOf(flag))
  return items.map((item): ImportItem => {
    const from = inherited.get(`${item.kind} ${item.sourceId}`)
    if (from === undefined) return item
    const message = `It depends on the ${from.replace(' ', ' "')}", which is approximate; see its reason.`
    return { ...item, status: 'approximate', reasons: [...item.reasons, { message, path: item.sourceKey }] }
  })
}
