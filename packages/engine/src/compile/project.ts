import { type FlatFlags, layFlat } from '../evaluate/flat-flags.ts'
import type { CompiledFlag, Compiler } from './compiler.ts'
import { type Ranking, rank } from './dependency-order.ts'

/**
 * The compiled flags of a project, each knowing its place among the others. It is a class, as is its index, so that all projects have one shape: what
 * reads them on every evaluation is compiled for that.
 */
export class Project {
  readonly compiler: Compiler
  readonly flags: readonly CompiledFlag[]
  readonly index: FlagIndex
  readonly ranking: Ranking
  /** The positions of the flags that others depend on. */
  readonly needed: ReadonlySet<number>
  /** The number of filters that these flags refer to. The compiler's list may grow later. */
  readonly predicateCount: number
  #flat: FlatFlags | undefined

  constructor(compiler: Compiler, flags: readonly CompiledFlag[], index: FlagIndex, ranking: Ranking) {
    this.compiler = compiler
    this.flags = flags
    this.index = index
    this.ranking = ranking
    this.needed = new Set([...ranking.dependencies.values()].flat())
    this.predicateCount = compiler.pool.predicates.length
  }

  /** The ordinary flags, laid out when they are first needed. */
  get flat(): FlatFlags {
    this.#flat ??= layFlat(this.flags, this.predicateCount, {
      isNeeded: position => this.needed.has(position),
      isDependent: position => this.ranking.dependencies.has(position),
    })
    return this.#flat
  }
}

/** Finds flags. It is made when it is first needed: of many projects that follow one another in a row of changes, only some are asked. */
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

  /** The position of the flag that a filter names by its id. A key will do as well. */
  ofReference(reference: string): number | undefined {
    this.#byId ??= new Map(this.#flags.map((flag, index) => [flag.id, index]))
    const id = Number(reference)
    return (String(id) === reference ? this.#byId.get(id) : undefined) ?? this.ofKey(reference)
  }
}

const none: readonly number[] = []

/** A project before a change, and the flags that were compiled for it: what they do not touch serves again. */
interface Previous {
  readonly project: Project
  readonly compiled: readonly CompiledFlag[]
}

export function linkProject(compiler: Compiler, flags: readonly CompiledFlag[], previous?: Previous): Project {
  const index =
    previous !== undefined && haveSamePlaces(flags, previous.project.flags)
      ? previous.project.index
      : new FlagIndex(flags)
  const ranking = isWithoutDependencies(previous)
    ? previous.project.ranking
    : rank(flags.length, position => {
        const { references } = flags[position]!
        return references.length === 0 ? none : references.map(reference => index.ofReference(reference) ?? -1)
      })
  return new Project(compiler, flags, index, ranking)
}

/** No flag depended on another, and none that was compiled since does. */
const isWithoutDependencies = (previous: Previous | undefined): previous is Previous =>
  previous !== undefined &&
  previous.project.ranking.dependencies.size === 0 &&
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

/** The flags with all that they depend on, in the order of evaluation. */
export function withDependencies({ ranking }: Project, asked: readonly number[]): Iterable<number> {
  const { order, dependencies } = ranking
  if (order === undefined || !asked.some(index => dependencies.has(index))) return asked
  const all = new Set(asked)
  for (const index of all) {
    for (const other of dependencies.get(index) ?? []) if (other >= 0) all.add(other)
  }
  return order.filter(index => all.has(index))
}
