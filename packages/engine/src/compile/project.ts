import type { CompiledFlag, Compiler } from './compiler.ts'
import { type FlagOrder, orderFlags } from './dependency-order.ts'
import { type PlannedHashes, planHashes } from './hash-plan.ts'
import type { Plan } from './plan.ts'

/**
 * The compiled flags of a project with their dependencies. Classes, so that all projects share one hidden class and the
 * evaluation loop stays monomorphic.
 */
export class Project {
  readonly compiler: Compiler
  readonly flags: readonly CompiledFlag[]
  readonly index: FlagIndex
  readonly flagOrder: FlagOrder
  /** The positions of the flags that others depend on. */
  readonly dependedOn: ReadonlySet<number>
  /** The number of predicates when the project was linked. The compiler's list may grow later. */
  readonly predicateCount: number
  // What takes a pass over all flags is made when it is first needed: most snapshots in a series of changes never evaluate.
  #plans: readonly (Plan | null)[] | undefined
  #hashes: readonly PlannedHashes[] | undefined
  #leftToServer: ReadonlySet<number> | undefined

  constructor(compiler: Compiler, flags: readonly CompiledFlag[], index: FlagIndex, flagOrder: FlagOrder) {
    this.compiler = compiler
    this.flags = flags
    this.index = index
    this.flagOrder = flagOrder
    this.dependedOn = new Set([...flagOrder.dependencies.values()].flat())
    this.predicateCount = compiler.pool.predicates.length
  }

  /** How each flag is evaluated, by position; null when it has a single outcome. */
  get plans(): readonly (Plan | null)[] {
    this.#plans ??= this.flags.map(({ plan }) => plan)
    return this.#plans
  }

  /** The hashes that an evaluation of all flags may need. */
  get hashes(): readonly PlannedHashes[] {
    this.#hashes ??= planHashes(this.flags, this.compiler.conditions)
    return this.#hashes
  }

  /** The positions of the flags that PostHog SDKs cannot evaluate, and of those that depend on them. */
  get leftToServer(): ReadonlySet<number> {
    this.#leftToServer ??= leftToServerOf(this.flags, this.flagOrder)
    return this.#leftToServer
  }
}

/** Dependencies come first in the order, so that one pass finds all dependents. */
function leftToServerOf(flags: readonly CompiledFlag[], { order, dependencies }: FlagOrder): Set<number> {
  const leftToServer = new Set<number>()
  for (let place = 0; place < flags.length; place++) {
    const position = order === undefined ? place : order[place]!
    const isServerOnly = flags[position]!.plan?.isServerOnly === true
    if (isServerOnly || dependencies.get(position)?.some(other => leftToServer.has(other))) leftToServer.add(position)
  }
  return leftToServer
}

/** Finds flags by key or id. Lazy: most snapshots in a series of changes are never queried. */
class FlagIndex {
  readonly #flags: readonly CompiledFlag[]
  #byKey: ReadonlyMap<string, number> | undefined
  #byId: ReadonlyMap<number, number> | undefined

  constructor(flags: readonly CompiledFlag[]) {
    this.#flags = flags
  }

  /** The position of the flag with this key. */
  ofKey(key: string): number | undefined {
    this.#byKey ??= new Map(this.#flags.map((flag, index) => [flag.key, index]))
    return this.#byKey.get(key)
  }

  /** The position of the flag that a filter refers to by id, or by key. */
  ofReference(reference: string): number | undefined {
    this.#byId ??= new Map(this.#flags.map((flag, index) => [flag.id, index]))
    const id = Number(reference)
    return (String(id) === reference ? this.#byId.get(id) : undefined) ?? this.ofKey(reference)
  }
}

const none: readonly number[] = []

/** The project before a change, and the flags compiled since. What they do not affect is reused. */
interface Previous {
  readonly project: Project
  readonly compiled: readonly CompiledFlag[]
}

export function linkProject(compiler: Compiler, flags: readonly CompiledFlag[], previous?: Previous): Project {
  const index =
    previous !== undefined && haveSamePlaces(flags, previous.project.flags)
      ? previous.project.index
      : new FlagIndex(flags)
  const flagOrder = isWithoutDependencies(previous)
    ? previous.project.flagOrder
    : orderFlags(flags.length, position => {
        const { references } = flags[position]!
        return references.length === 0 ? none : references.map(reference => index.ofReference(reference) ?? -1)
      })
  return new Project(compiler, flags, index, flagOrder)
}

/** No flag depended on another, and none of the new ones does. */
const isWithoutDependencies = (previous: Previous | undefined): previous is Previous =>
  previous !== undefined &&
  previous.project.flagOrder.dependencies.size === 0 &&
  previous.compiled.every(({ references }) => references.length === 0)

function haveSamePlaces(flags: readonly CompiledFlag[], others: readonly CompiledFlag[]): boolean {
  if (flags.length !== others.length) return false
  for (let index = 0; index < flags.length; index++) {
    const flag = flags[index]!
    const other = others[index]!
    if (flag !== other && (flag.id !== other.id || flag.key !== other.key)) return false
  }
  return true
}

/** The flags and their transitive dependencies, in evaluation order. */
export function withDependencies({ flagOrder }: Project, requested: readonly number[]): Iterable<number> {
  const { order, dependencies } = flagOrder
  if (order === undefined || !requested.some(index => dependencies.has(index))) return requested
  const all = new Set(requested)
  for (const index of all) {
    for (const other of dependencies.get(index) ?? []) if (other >= 0) all.add(other)
  }
  return order.filter(index => all.has(index))
}
