import { type CompiledFlag, Compiler } from './compiler.ts'
import { decideFlag, doubtAbout } from './decide-flag.ts'
import type { Definitions, EngineOptions, FlagDefinition, Subject } from './definition.ts'
import type { Issue } from './issue.ts'
import { DEPENDENCY_CYCLE, MISSING_DEPENDENCY } from './outcome.ts'
import { type Ranking, rank } from './rank.ts'
import { type Requirements, requirementsOf } from './requirements.ts'
import { isAsked, Results, unasked } from './results.ts'
import { openRun, type Run } from './run.ts'

export interface EvaluateOptions {
  /** Evaluate only these flags, and what they depend on. */
  readonly keys?: readonly string[]
  /** Milliseconds since 1970. */
  readonly now: number
}

export interface Changes {
  /** Flags that are new or have changed. */
  readonly flags?: readonly FlagDefinition[]
  /** The ids of flags that are gone. */
  readonly removed?: readonly number[]
}

/** Prepares the flags of a project. What is wrong with a flag is told in `issues`; nothing is thrown. */
export function compile(definitions: Definitions, options: EngineOptions): Snapshot {
  const compiler = new Compiler(definitions, options)
  const issues = new Map<number, readonly Issue[]>()
  const flags = definitions.flags.map(flag => compileInto(flag, compiler, issues))
  return new Snapshot({ compiler, definitions, flags, issues, sizeWhenFresh: compiler.size })
}

function compileInto(
  definition: FlagDefinition,
  compiler: Compiler,
  issues: Map<number, readonly Issue[]>,
): CompiledFlag {
  const found: Issue[] = []
  const { flag } = compiler.compileFlag(definition, (code, path, message) => found.push({ code, path, message }))
  if (flag.plan !== null && compiler.isFailing(flag.plan)) {
    const message = 'A cohort that this flag uses does not exist or contains itself.'
    found.push({ code: 'unknown_cohort', path: 'filters', message })
  }
  if (found.length > 0) issues.set(flag.id, found)
  else issues.delete(flag.id)
  return flag
}

interface Parts {
  readonly compiler: Compiler
  readonly definitions: Omit<Definitions, 'flags'>
  readonly flags: readonly CompiledFlag[]
  readonly issues: ReadonlyMap<number, readonly Issue[]>
  readonly sizeWhenFresh: number
}

/** The first flag that a client library declines, among a flag and those it depends on. */
type Doubts = Map<number, { readonly doubt: number; readonly place: number }>

/** The flags of a project at one moment, ready to be evaluated. Nothing in it ever changes. */
export class Snapshot {
  /** In the order of the definitions. */
  readonly flags: readonly CompiledFlag[]
  readonly #parts: Parts
  readonly #indexByKey = new Map<string, number>()
  readonly #indexById = new Map<string, number>()
  readonly #ranking: Ranking
  /** The flags that others depend on. */
  readonly #needed: ReadonlySet<number>
  #requirements: Requirements | undefined
  #issues: ReadonlyMap<number, readonly Issue[]> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.flags = parts.flags
    for (const [index, flag] of parts.flags.entries()) {
      this.#indexByKey.set(flag.key, index)
      this.#indexById.set(String(flag.id), index)
    }
    this.#ranking = rank(parts.flags.length, index =>
      parts.flags[index]!.references.map(reference => this.#resolve(reference) ?? -1),
    )
    this.#needed = new Set([...this.#ranking.dependencies.values()].flat())
  }

  /** The position of the flag with this key in `flags`. */
  indexOf(key: string): number | undefined {
    return this.#indexByKey.get(key)
  }

  /** What is wrong with which flag, by its id. */
  get issues(): ReadonlyMap<number, readonly Issue[]> {
    this.#issues ??= this.#allIssues()
    return this.#issues
  }

  get requirements(): Requirements {
    this.#requirements ??= requirementsOf(this.flags, this.#parts.compiler)
    return this.#requirements
  }

  /** Answers for one subject. Never throws, whatever the subject holds, and changes nothing. */
  evaluate(subject: Subject, { keys, now }: EvaluateOptions): Results {
    const outcomes = unasked(this.flags.length)
    const doubts: Doubts = new Map()
    const run = this.#open(subject, now, outcomes, doubts)
    if (keys === undefined) this.#evaluateAll(run, outcomes, doubts)
    else this.#evaluateSome(run, outcomes, doubts, keys)
    return new Results(this.flags, outcomes, key => this.#indexByKey.get(key))
  }

  /** A snapshot with some flags changed. Only these are compiled; everything else is shared. */
  update({ flags: changed = [], removed = [] }: Changes): Snapshot {
    const { compiler, definitions, sizeWhenFresh } = this.#parts
    const gone = new Set(removed)
    const replacements = new Map(changed.map(flag => [flag.id, flag]))
    if (compiler.size > 2 * sizeWhenFresh + leftoversMax) return this.#afresh(gone, replacements)
    const issues = new Map(this.#parts.issues)
    const flags: CompiledFlag[] = []
    for (const flag of this.flags) {
      const replacement = replacements.get(flag.id)
      replacements.delete(flag.id)
      if (gone.has(flag.id)) issues.delete(flag.id)
      else flags.push(replacement === undefined ? flag : compileInto(replacement, compiler, issues))
    }
    for (const flag of replacements.values()) if (!gone.has(flag.id)) flags.push(compileInto(flag, compiler, issues))
    return new Snapshot({ compiler, definitions, flags, issues, sizeWhenFresh })
  }

  /** Filters that no flag uses any more stay numbered; now and then we start over without them. */
  #afresh(gone: ReadonlySet<number>, replacements: Map<number, FlagDefinition>): Snapshot {
    const definitions = this.flags.flatMap(({ id, definition }) => {
      const replacement = replacements.get(id)
      replacements.delete(id)
      return gone.has(id) ? [] : [replacement ?? definition]
    })
    const added = [...replacements.values()].filter(flag => !gone.has(flag.id))
    return compile({ ...this.#parts.definitions, flags: [...definitions, ...added] }, this.#parts.compiler.options)
  }

  #resolve(reference: string): number | undefined {
    return this.#indexById.get(reference) ?? this.#indexByKey.get(reference)
  }

  /**
   * The keys of all flags that decide about a flag, in the order of evaluation, itself last; empty when one is missing
   * or they go in a circle. Client libraries want it with every dependency, and the order matters to them.
   */
  dependencyChain(reference: string): readonly string[] {
    const index = this.#resolve(reference)
    if (index === undefined || this.#ranking.broken.has(index)) return []
    return Array.from(this.#withDependencies(new Set([index])), position => this.flags[position]!.key)
  }

  #open(subject: Subject, now: number, outcomes: Uint16Array, doubts: Doubts): Run {
    const { compiler } = this.#parts
    return openRun(subject, now, compiler.groupTypes, compiler.pool.predicates.length, reference => {
      const index = this.#resolve(reference)
      if (index === undefined || !isAsked(outcomes, index)) return undefined
      return { outcome: this.flags[index]!.outcomes[outcomes[index]!]!, doubt: doubts.get(index)?.doubt ?? 0 }
    })
  }

  #evaluateAll(run: Run, outcomes: Uint16Array, doubts: Doubts): void {
    const { order } = this.#ranking
    for (let position = 0; position < this.flags.length; position++) {
      this.#evaluateOne(run, outcomes, doubts, order === undefined ? position : order[position]!)
    }
  }

  #evaluateOne(run: Run, outcomes: Uint16Array, doubts: Doubts, index: number): void {
    const flag = this.flags[index]!
    const broken = flag.plan === null ? undefined : this.#ranking.broken.get(index)
    if (broken !== undefined) {
      outcomes[index] = broken === 'cycle' ? DEPENDENCY_CYCLE : MISSING_DEPENDENCY
      return
    }
    outcomes[index] = decideFlag(run, this.#parts.compiler.pool.predicates, flag)
    if (this.#needed.has(index)) this.#noteDoubt(run, index, doubts)
  }

  /** A client library evaluates all that a flag depends on, in order, and stops at the first one that it declines. */
  #noteDoubt(run: Run, index: number, doubts: Doubts): void {
    const { places, dependencies } = this.#ranking
    const doubt = doubtAbout(run, this.#parts.compiler.pool.predicates, this.flags[index]!)
    let first = doubt === 0 ? undefined : { doubt, place: places![index]! }
    for (const other of dependencies.get(index) ?? []) {
      const earlier = doubts.get(other)
      if (earlier !== undefined && (first === undefined || earlier.place < first.place)) first = earlier
    }
    if (first !== undefined) doubts.set(index, first)
  }

  #evaluateSome(run: Run, outcomes: Uint16Array, doubts: Doubts, keys: readonly string[]): void {
    const asked = new Set(keys.flatMap(key => this.#indexByKey.get(key) ?? []))
    const needed = this.#withDependencies(asked)
    for (const index of needed) this.#evaluateOne(run, outcomes, doubts, index)
    for (const index of needed) if (!asked.has(index)) outcomes[index] = 0xffff
  }

  /** The flags with all that they depend on, in the order of evaluation. */
  #withDependencies(asked: ReadonlySet<number>): Iterable<number> {
    const { order, dependencies } = this.#ranking
    if (order === undefined) return asked
    const all = new Set(asked)
    for (const index of all) {
      for (const other of dependencies.get(index) ?? []) if (other >= 0) all.add(other)
    }
    return all.size === asked.size && ![...asked].some(index => dependencies.has(index))
      ? asked
      : order.filter(index => all.has(index))
  }

  #allIssues(): ReadonlyMap<number, readonly Issue[]> {
    const { broken } = this.#ranking
    if (broken.size === 0) return this.#parts.issues
    const issues = new Map(this.#parts.issues)
    for (const [index, breakage] of broken) {
      const { id } = this.flags[index]!
      const issue: Issue =
        breakage === 'cycle'
          ? { code: 'flag_cycle', path: 'filters', message: 'The flag depends on flags that go in a circle.' }
          : { code: 'unknown_flag', path: 'filters', message: 'The flag depends on a flag that does not exist.' }
      issues.set(id, [...(issues.get(id) ?? []), issue])
    }
    return issues
  }
}

const leftoversMax = 10_000
