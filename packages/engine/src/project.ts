import type { CompiledFlag, Compiler } from './compiler.ts'
import { type FlatFlags, layFlat } from './flat-flags.ts'
import { type Ranking, rank } from './rank.ts'

/** The compiled flags of a project, each knowing its place among the others. */
export interface Project {
  readonly compiler: Compiler
  readonly flags: readonly CompiledFlag[]
  readonly indexByKey: ReadonlyMap<string, number>
  /** Made when they are first needed: of many projects that follow one another in a row of changes, only some are asked. */
  readonly indexes: () => Indexes
  readonly ranking: Ranking
  /** The positions of the flags that others depend on. */
  readonly needed: ReadonlySet<number>
  /** The number of filters that these flags refer to. The compiler's list may grow later. */
  readonly predicateCount: number
  /** The ordinary flags, laid out when they are first needed. */
  readonly flat: FlatFlags
  /** The position of the flag that a filter names by its id. A key will do as well. */
  find(reference: string): number | undefined
}

interface Indexes {
  readonly byKey: ReadonlyMap<string, number>
  readonly byId: ReadonlyMap<number, number>
}

const none: readonly number[] = []

/** A project before a change, and the flags that were compiled for it: what they do not touch serves again. */
interface Previous {
  readonly project: Project
  readonly compiled: readonly CompiledFlag[]
}

export function linkProject(compiler: Compiler, flags: readonly CompiledFlag[], previous?: Previous): Project {
  const indexes =
    previous !== undefined && haveSamePlaces(flags, previous.project.flags)
      ? previous.project.indexes
      : whenNeeded(() => indexFlags(flags))
  const find = (reference: string) => {
    const { byKey, byId } = indexes()
    const id = Number(reference)
    return (String(id) === reference ? byId.get(id) : undefined) ?? byKey.get(reference)
  }
  const ranking = isWithoutDependencies(previous)
    ? previous.project.ranking
    : rank(flags.length, index => {
        const { references } = flags[index]!
        return references.length === 0 ? none : references.map(reference => find(reference) ?? -1)
      })
  const needed = new Set([...ranking.dependencies.values()].flat())
  const predicateCount = compiler.pool.predicates.length
  let flat: FlatFlags | undefined
  return {
    compiler,
    flags,
    get indexByKey() {
      return indexes().byKey
    },
    indexes,
    ranking,
    needed,
    predicateCount,
    get flat() {
      flat ??= layFlat(flags, predicateCount, {
        isNeeded: position => needed.has(position),
        isDependent: position => ranking.dependencies.has(position),
      })
      return flat
    },
    find,
  }
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

function indexFlags(flags: readonly CompiledFlag[]): Indexes {
  const byKey = new Map<string, number>()
  const byId = new Map<number, number>()
  for (let index = 0; index < flags.length; index++) {
    byKey.set(flags[index]!.key, index)
    byId.set(flags[index]!.id, index)
  }
  return { byKey, byId }
}

function whenNeeded<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
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
