import { checkFilters } from '../definition/check-filters.ts'
import type { CohortDefinition, Definitions, EngineOptions, FlagDefinition } from '../definition/definition.ts'
import type { Report } from '../definition/issue.ts'
import { own } from '../definition/json.ts'
import { type ParsedFilters, parseFilters } from '../definition/parse-filters.ts'
import { type Outcome, OutcomeFactory, outcomeTable } from '../evaluate/outcome.ts'
import { type Plan, PlanPool, planFlag } from './plan.ts'
import { PredicatePool, type Reads } from './predicate-pool.ts'

/** A flag that is ready to be evaluated. */
export interface CompiledFlag {
  readonly id: number
  readonly key: string
  readonly version: number | undefined
  readonly active: boolean
  readonly definition: FlagDefinition
  /** Everything that the flag can answer. An evaluation gives a position in this table. */
  readonly outcomes: readonly Outcome[]
  /** How to find the outcome; null when there is only one. */
  readonly plan: Plan | null
  /** The flags that decide about this one, also through cohorts, as its filters name them. */
  readonly references: readonly string[]
}

const noReferences: readonly string[] = []

/** What the flags of a project have in common: numbered filters, shared outcomes, bags of group properties. */
export class Compiler {
  readonly options: EngineOptions
  readonly cohorts: ReadonlyMap<string, CohortDefinition>
  readonly pool: PredicatePool
  /** The name of the group type by bag; bag 0 is the person. */
  readonly groupTypes: readonly (string | undefined)[]
  /** Whether any filter or flag so far is about a group. */
  usesGroups = false
  readonly #outcomes = new OutcomeFactory()
  readonly #plans = new PlanPool()
  readonly #entityProperties = new Map<string, number>()

  constructor(definitions: Omit<Definitions, 'flags'>, options: EngineOptions) {
    this.options = options
    this.cohorts = new Map(definitions.cohorts.map(cohort => [String(cohort.id), cohort]))
    this.groupTypes = this.#nameBags(definitions.groupTypes)
    this.pool = new PredicatePool({
      regex: options.regex,
      propertyMatchingVersion: definitions.propertyMatchingVersion === 2 ? 2 : 1,
      cohorts: this.cohorts,
      entityOf: this.entityOf,
    })
  }

  readonly entityOf = (groupIndex: string): number | undefined => {
    const entity = this.#entityProperties.get(groupIndex)
    if (entity !== undefined) this.usesGroups = true
    return entity
  }

  #nameBags(groupTypes: Definitions['groupTypes']): (string | undefined)[] {
    const names: (string | undefined)[] = [undefined]
    for (const index of Object.keys(groupTypes)) {
      const name = own(groupTypes, index)
      if (typeof name === 'string' && name !== '') this.#entityProperties.set(index, names.push(name) - 1)
    }
    return names
  }

  /** How much has been numbered and shared so far. It only grows, also when flags are replaced. */
  get size(): number {
    return this.pool.predicates.length + this.#outcomes.size + this.#plans.size
  }

  compileFlag(definition: FlagDefinition, report: Report): { flag: CompiledFlag; filters: ParsedFilters | undefined } {
    const filters = parseFilters(definition.filters, report)
    const { id, key, version, active } = definition
    const planned =
      filters === undefined
        ? null
        : planFlag(definition, filters, { pool: this.pool, plans: this.#plans, entityOf: this.entityOf, report })
    const plan = active ? planned : null
    if (filters !== undefined) checkFilters(filters, report)
    const flag: CompiledFlag = {
      id,
      key,
      version,
      active,
      definition,
      outcomes: this.#outcomesOf(definition, filters),
      plan,
      references: plan === null ? noReferences : this.#referencesOf(plan),
    }
    return { flag, filters }
  }

  #outcomesOf(definition: FlagDefinition, filters: ParsedFilters | undefined): readonly Outcome[] {
    if (!definition.active) return [this.#outcomes.off('flag_disabled', null)]
    if (filters === undefined) return [this.#outcomes.failed('error')]
    return outcomeTable(filters, this.#outcomes)
  }

  /** Whether a cohort that the flag uses does not exist or contains itself. */
  isFailing(plan: Plan): boolean {
    return this.pool.hasFailures && this.#readsOf(plan).some(({ kind }) => kind === 'failure')
  }

  #referencesOf(plan: Plan): readonly string[] {
    if (!this.pool.hasReferences) return noReferences
    return this.#readsOf(plan).flatMap(reads => (reads.kind === 'flag' ? [reads.reference] : []))
  }

  /** What a flag reads, also within cohorts, each filter once. */
  #readsOf({ conditions, superCondition }: Plan): Reads[] {
    const ids = new Set(conditions.flatMap(condition => condition.predicates))
    for (const id of superCondition?.predicates ?? []) ids.add(id)
    for (const id of ids) {
      const reads = this.pool.reads[id]!
      if (reads.kind === 'cohort') for (const inner of reads.predicates) ids.add(inner)
    }
    return [...ids].map(id => this.pool.reads[id]!)
  }
}
