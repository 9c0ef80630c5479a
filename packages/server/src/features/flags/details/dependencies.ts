import { type DependencyNode, dependencyNodesMax, type FlagDependencies } from '@halyard/contract'
import { usesOf } from '@halyard/engine'
import type { ServedProject } from '../../../evaluation/projects/served-project.ts'

type Node = DependencyNode

/** All flags and cohorts by a key of their own. */
type Graph = ReadonlyMap<string, Node>

const keyOf = ({ kind, id }: Pick<Node, 'kind' | 'id'>): string => `${kind} ${id}`

function graphOf({ live, cohorts }: Pick<ServedProject, 'live' | 'cohorts'>): Graph {
  const nodes: Node[] = [
    ...live.map(({ id, key, active, filters }) => ({
      kind: 'flag' as const,
      id,
      name: key,
      active,
      uses: referencesOf(filters),
    })),
    ...cohorts.map(({ id, name = '', filters }) => ({
      kind: 'cohort' as const,
      id,
      name,
      active: null,
      uses: referencesOf(filters),
    })),
  ]
  return new Map(nodes.map(node => [keyOf(node), node]))
}

function referencesOf(filters: unknown): Node['uses'] {
  const { flags, cohorts } = usesOf(filters)
  return [...flags.map(id => ({ kind: 'flag' as const, id })), ...cohorts.map(id => ({ kind: 'cohort' as const, id }))]
}

type Neighbors = (key: string) => readonly string[]

const usesIn =
  (graph: Graph): Neighbors =>
  key =>
    (graph.get(key)?.uses ?? []).map(keyOf).filter(used => graph.has(used))

function usersIn(graph: Graph): Neighbors {
  const users = new Map<string, string[]>()
  for (const node of graph.values()) {
    for (const used of node.uses.map(keyOf)) {
      const usersOfNode = users.get(used)
      if (usersOfNode) usersOfNode.push(keyOf(node))
      else users.set(used, [keyOf(node)])
    }
  }
  return key => users.get(key) ?? []
}

/** Everything that is reached from the starts, nearest first, the starts included. */
function reachedFrom(starts: readonly string[], neighbors: Neighbors): Set<string> {
  const reached = new Set(starts)
  // A set iterates over what is added meanwhile.
  for (const key of reached) for (const next of neighbors(key)) reached.add(next)
  return reached
}

/** What a flag depends on and what depends on it, directly or not. */
export function dependenciesOf(served: ServedProject, flagId: number): FlagDependencies {
  const graph = graphOf(served)
  const start = keyOf({ kind: 'flag', id: flagId })
  if (!graph.has(start)) return { count: 0, results: [] }
  const used = [...reachedFrom([start], usesIn(graph))]
  const users = [...reachedFrom([start], usersIn(graph))]
  // Neither direction takes the place of the other.
  const connected = used.flatMap((key, index) => [key, users[index] ?? key]).concat(users)
  return pageOf(graph, new Set(connected))
}

/** Flags that depend on another flag, the flags that they depend on, and cohorts in between. */
export function flagDependencies(served: ServedProject): FlagDependencies {
  const graph = graphOf(served)
  const usersOf = usersIn(graph)
  const flags = [...graph].filter(([, { kind }]) => kind === 'flag').map(([key]) => key)
  const used = flags.filter(key => usersOf(key).length > 0)
  // Whatever uses one of these, directly or not, reaches a flag.
  const users = reachedFrom(used.flatMap(usersOf), usersOf)
  const connected = [...new Set([...used, ...users])]
  return pageOf(graph, new Set(connected.sort((a, b) => compareNames(graph, a, b))))
}

const compareNames = (graph: Graph, a: string, b: string): number =>
  (graph.get(a)?.name ?? '') < (graph.get(b)?.name ?? '') ? -1 : 1

function pageOf(graph: Graph, keys: ReadonlySet<string>): FlagDependencies {
  const listed = new Set([...keys].slice(0, dependencyNodesMax))
  const results = [...listed].flatMap(key => graph.get(key) ?? [])
  return {
    count: keys.size,
    results: results.map(node => ({ ...node, uses: node.uses.filter(used => listed.has(keyOf(used))) })),
  }
}
