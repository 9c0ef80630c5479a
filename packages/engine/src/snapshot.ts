import { type CompiledFlag, Compiler } from './compile/compiler.ts'
import { linkProject, type Project, withDependencies } from './compile/project.ts'
import { type Requirements, requirementsOf } from './compile/requirements.ts'
import type { Definitions, EngineOptions, FlagDefinition, Subject } from './definition/definition.ts'
import type { Issue } from './definition/issue.ts'
import { evaluateAll, evaluateSome, newRun } from './evaluate/evaluate.ts'
import { Results } from './evaluate/results.ts'
import type { Run } from './evaluate/run.ts'
import { explainFlag } from './explain/explain.ts'
import { type FlagValue, reachableValues } from './explain/reachable-values.ts'
import type { Trace } from './explain/trace.ts'

export interface EvaluateOptions {
  /** Evaluate only these flags and their dependencies. */
  readonly keys?: readonly string[]
  /** Unix time in milliseconds. */
  readonly now: number
}

export interface ExplainOptions {
  readonly key: string
  /** Unix time in milliseconds. */
  readonly now: number
}

export interface Changes {
  /** New and changed flags. */
  readonly flags?: readonly FlagDefinition[]
  /** The ids of removed flags. */
  readonly removed?: readonly number[]
}

/** Interned objects of replaced flags beyond this number trigger a full recompilation. */
const staleEntriesMax = 10_000

/** Compiles the flags of a project. Never throws: invalid flags are reported in `issues`. */
export function compile(definitions: Definitions, options: EngineOptions): Snapshot {
  const compiler = new Compiler(definitions, options)
  const issues = new Map<number, readonly Issue[]>()
  const { flags, ...context } = definitions
  const compiled = flags.map(flag => compileInto(flag, compiler, issues))
  const project = linkProject(compiler, compiled)
  const highestId = highestOf(compiled, Number.NEGATIVE_INFINITY)
  return new Snapshot({ project, context, issues, initialSize: compiler.size, highestId })
}

function compileInto(
  definition: FlagDefinition,
  compiler: Compiler,
  issues: Map<number, readonly Issue[]>,
): CompiledFlag {
  const flagIssues: Issue[] = []
  const { flag } = compiler.compileFlag(definition, (code, path, message) => flagIssues.push({ code, path, message }))
  if (flag.plan !== null && compiler.isFailing(flag.plan)) {
    const message = 'The flag uses a cohort that does not exist or contains itself.'
    flagIssues.push({ code: 'cohort_does_not_exist', path: 'filters', message })
  }
  if (flagIssues.length > 0) issues.set(flag.id, flagIssues)
  else issues.delete(flag.id)
  return flag
}

interface Parts {
  readonly project: Project
  /** The definitions without the flags, which hold their own. */
  readonly context: Omit<Definitions, 'flags'>
  readonly issues: ReadonlyMap<number, readonly Issue[]>
  /** The compiler's size right after a full compilation. */
  readonly initialSize: number
  /** The highest flag id. */
  readonly highestId: number
}

const highestOf = (flags: readonly CompiledFlag[], atLeast: number): number =>
  flags.reduce((highest, { id }) => Math.max(highest, id), atLeast)

/** The compiled flags of a project at one moment. Immutable. */
export class Snapshot {
  /** In definition order. */
  readonly flags: readonly CompiledFlag[]
  readonly #parts: Parts
  readonly #project: Project
  #requirements: Requirements | undefined
  #reachable: readonly ReadonlySet<FlagValue>[] | undefined
  #issues: ReadonlyMap<number, readonly Issue[]> | undefined
  /** Evaluation state, reused to avoid allocations. */
  #idle: Run | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#project = parts.project
    this.flags = parts.project.flags
  }

  /** The position of the flag with this key in `flags`. */
  indexOf(key: string): number | undefined {
    return this.#project.index.ofKey(key)
  }

  /** Whether PostHog SDKs must ask the server, because of the flag itself, its cohorts or its dependencies. */
  isLeftToServer(key: string): boolean {
    const index = this.#project.index.ofKey(key)
    return index !== undefined && this.#project.leftToServer.has(index)
  }

  /** The issues of invalid flags, by flag id. */
  get issues(): ReadonlyMap<number, readonly Issue[]> {
    this.#issues ??= this.#allIssues()
    return this.#issues
  }

  get requirements(): Requirements {
    this.#requirements ??= requirementsOf(this.flags, this.#project.compiler)
    return this.#requirements
  }

  /** What one flag and its dependencies read; undefined when there is no such flag. */
  requirementsOf(key: string): Requirements | undefined {
    const index = this.#project.index.ofKey(key)
    if (index === undefined) return undefined
    const flags = Array.from(withDependencies(this.#project, [index]), position => this.flags[position]!)
    return requirementsOf(flags, this.#project.compiler)
  }

  /** The values that a flag can have, by its position in `flags`. A single one proves that the flag is constant. */
  get reachable(): readonly ReadonlySet<FlagValue>[] {
    this.#reachable ??= reachableValues(this.#project)
    return this.#reachable
  }

  /** Evaluates flags for one subject. Never throws and has no side effects. */
  evaluate(subject: Subject, { keys, now }: EvaluateOptions): Results {
    const run = this.#acquire(subject, now)
    const results = keys === undefined ? this.#evaluateAll(run) : this.#evaluateKeys(run, keys)
    this.#release(run)
    return results
  }

  #evaluateAll(run: Run): Results {
    evaluateAll(this.#project, run)
    return new Results(this.#project, run.outcomes.slice(), run.regexSteps)
  }

  #evaluateKeys(run: Run, keys: readonly string[]): Results {
    const positions = this.#positionsOf(keys)
    evaluateSome(this.#project, run, positions)
    const outcomes = positions.length === 1 ? [run.outcomes[positions[0]!]!] : positions.map(at => run.outcomes[at]!)
    return new Results(this.#project, outcomes, run.regexSteps, positions)
  }

  /** Ascending, each once. */
  #positionsOf(keys: readonly string[]): number[] {
    const { index: places } = this.#project
    const only = keys.length === 1 ? places.ofKey(keys[0]!) : undefined
    if (only !== undefined) return [only]
    const requested = new Set<number>()
    for (const key of keys) {
      const index = places.ofKey(key)
      if (index !== undefined) requested.add(index)
    }
    return [...requested].sort((left, right) => left - right)
  }

  /** Explains the result of a flag; undefined when there is no such flag. */
  explain(subject: Subject, { key, now }: ExplainOptions): Trace | undefined {
    const index = this.#project.index.ofKey(key)
    if (index === undefined) return undefined
    const run = this.#acquire(subject, now)
    evaluateSome(this.#project, run, [index])
    const trace = explainFlag(this.#project, run, index)
    this.#release(run)
    return trace
  }

  /** A reentrant call, from within `inStaticCohort`, gets its own run. */
  #acquire(subject: Subject, now: number): Run {
    const run = this.#idle ?? newRun(this.#project)
    this.#idle = undefined
    run.open(subject, now)
    return run
  }

  #release(run: Run): void {
    run.close()
    this.#idle = run
  }

  /** A new snapshot with some flags changed. Compiles only these and shares the rest. */
  update({ flags: changed = [], removed = [] }: Changes): Snapshot {
    const { context, initialSize, highestId } = this.#parts
    const { compiler } = this.#project
    const gone = new Set(removed)
    const replacements = new Map(changed.map(flag => [flag.id, flag]))
    if (compiler.size > 2 * initialSize + staleEntriesMax) return this.#recompile(gone, replacements)
    const issues = new Map(this.#parts.issues)
    const flags = gone.size === 0 ? this.flags.slice() : this.flags.filter(flag => !gone.has(flag.id))
    for (const id of gone) issues.delete(id)
    const compiled: CompiledFlag[] = []
    const compileNew = (flag: FlagDefinition): CompiledFlag => {
      const made = compileInto(flag, compiler, issues)
      compiled.push(made)
      return made
    }
    // Ids grow, so a new flag usually has the highest id, and no search for its position is needed.
    let sought = 0
    for (const id of replacements.keys()) if (!(id > highestId)) sought += 1
    for (let index = 0; index < flags.length && sought > 0; index++) {
      const replacement = replacements.get(flags[index]!.id)
      if (replacement === undefined) continue
      replacements.delete(replacement.id)
      flags[index] = compileNew(replacement)
      sought -= 1
    }
    for (const flag of replacements.values()) if (!gone.has(flag.id)) flags.push(compileNew(flag))
    return new Snapshot({
      project: linkProject(compiler, flags, { project: this.#project, compiled }),
      context,
      issues,
      initialSize,
      highestId: highestOf(compiled, highestId),
    })
  }

  /** Drops interned objects that no flag uses any more. */
  #recompile(gone: ReadonlySet<number>, replacements: Map<number, FlagDefinition>): Snapshot {
    const definitions = this.flags.flatMap(({ id, definition }) => {
      const replacement = replacements.get(id)
      replacements.delete(id)
      return gone.has(id) ? [] : [replacement ?? definition]
    })
    const added = [...replacements.values()].filter(flag => !gone.has(flag.id))
    return compile({ ...this.#parts.context, flags: [...definitions, ...added] }, this.#project.compiler.options)
  }

  /**
   * The keys of a flag's transitive dependencies in evaluation order, itself last; empty when one is missing or they are
   * cyclic. PostHog SDKs expect this chain, in this order, with every dependency.
   */
  dependencyChain(reference: string): readonly string[] {
    const index = this.#project.index.ofReference(reference)
    if (index === undefined || this.#project.flagOrder.broken.has(index)) return []
    return Array.from(withDependencies(this.#project, [index]), position => this.flags[position]!.key)
  }

  #allIssues(): ReadonlyMap<number, readonly Issue[]> {
    const { broken } = this.#project.flagOrder
    if (broken.size === 0) return this.#parts.issues
    const issues = new Map(this.#parts.issues)
    for (const [index, breakage] of broken) {
      const { id } = this.flags[index]!
      const issue: Issue =
        breakage === 'cycle'
          ? { code: 'flag_cycle', path: 'filters', message: 'The flag has a circular dependency.' }
          : { code: 'unknown_flag', path: 'filters', message: 'The flag depends on a flag that does not exist.' }
      issues.set(id, [...(issues.get(id) ?? []), issue])
    }
    return issues
  }
}
