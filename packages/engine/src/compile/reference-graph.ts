import type { CohortDefinition, Definitions, FlagDefinition } from '../definition/definition.ts'
import { type Reference, referencesIn } from '../definition/references.ts'

/** A flag or a cohort as a node of the reference graph. */
export type Node =
  | { readonly kind: 'flag'; readonly definition: FlagDefinition }
  | { readonly kind: 'cohort'; readonly definition: CohortDefinition }

/** The references among the flags and cohorts of a project. */
export class ReferenceGraph {
  readonly #cohorts: ReadonlyMap<string, CohortDefinition>
  readonly #flags = new Map<string, FlagDefinition>()
  readonly #references = new Map<string, readonly Reference[]>()

  constructor({ flags, cohorts }: Pick<Definitions, 'flags' | 'cohorts'>) {
    this.#cohorts = new Map(cohorts.map(cohort => [String(cohort.id), cohort]))
    // Ids take precedence over keys that look like ids.
    for (const flag of flags) this.#flags.set(flag.key, flag)
    for (const flag of flags) this.#flags.set(String(flag.id), flag)
  }

  find(reference: Reference): Node | undefined {
    if (reference.kind === 'flag') {
      const definition = this.#flags.get(reference.reference)
      return definition && { kind: 'flag', definition }
    }
    const definition = this.#cohorts.get(reference.id)
    return definition && { kind: 'cohort', definition }
  }

  next(node: Node): Node[] {
    return this.#referencesOf(node).flatMap(reference => this.find(reference) ?? [])
  }

  /** References to flags or cohorts that do not exist. */
  dangling(node: Node): Reference[] {
    return this.#referencesOf(node).filter(reference => this.find(reference) === undefined)
  }

  /** Parsed once per node. */
  #referencesOf(node: Node): readonly Reference[] {
    if (node.kind === 'cohort' && node.definition.isStatic) return []
    const cached = this.#references.get(nameOf(node))
    if (cached !== undefined) return cached
    const references = referencesIn(node.definition.filters)
    this.#references.set(nameOf(node), references)
    return references
  }

  /** The shortest path between two nodes (breadth-first search), or undefined. */
  path(from: Node, to: Node): Node[] | undefined {
    const target = nameOf(to)
    const cameFrom = new Map<string, Node | undefined>([[nameOf(from), undefined]])
    const queue = [from]
    for (const node of queue) {
      if (nameOf(node) === target) return this.#trace(node, cameFrom)
      for (const next of this.next(node)) {
        if (cameFrom.has(nameOf(next))) continue
        cameFrom.set(nameOf(next), node)
        queue.push(next)
      }
    }
    return undefined
  }

  #trace(end: Node, cameFrom: ReadonlyMap<string, Node | undefined>): Node[] {
    const path: Node[] = []
    for (let node: Node | undefined = end; node !== undefined; node = cameFrom.get(nameOf(node))) path.unshift(node)
    return path
  }

  /** The transitive closure, including the start. */
  reachable(from: Node): Node[] {
    const reached = new Map([[nameOf(from), from]])
    for (const node of reached.values()) {
      for (const next of this.next(node)) reached.set(nameOf(next), reached.get(nameOf(next)) ?? next)
    }
    return [...reached.values()]
  }
}

export function nameOf(node: Node): string {
  return `${node.kind} ${node.definition.id}`
}

/** The name that users see. */
export function titleOf(node: Node): string {
  if (node.kind === 'flag') return node.definition.key
  return node.definition.name || `cohort ${node.definition.id}`
}
