import { checkFilters } from '../definition/check-filters.ts'
import type { CohortDefinition, Definitions, EngineOptions, FlagDefinition } from '../definition/definition.ts'
import type { Report } from '../definition/issue.ts'
import { own } from '../definition/json.ts'
import { type ParsedFilters, parseFilters } from '../definition/parse-filters.ts'
import { type Outcome, OutcomeFactory, outcomeTable } from '../evaluate/outcome.ts'
import type { ConditionTable } from './condition-table.ts'
import { type Plan, PlanPool, planFlag } from './plan.ts'
import { PredicatePool, type Reads } from './predicate-pool.ts'

/** A flag that is ready for evaluation. */
export interface CompiledFlag {
  readonly id: number
  readonly key: string
  readonly version: number | undefined
  readonly active: boolean
  readonly definition: FlagDefinition
  /** All possible outcomes of the flag. An evaluation yields an index into this table. */
  readonly outcomes: readonly Outcome[]
  /** How to find the outcome; null when there is only one. */
  readonly plan: Plan | null
  /** References to other flags in its filters, including those of its cohorts. */
  readonly references: readonly string[]
}

const noReferences: readonly string[] = []

/** What the flags of a project share: interned predicates, outcomes and plans, and the entities. */
export class Compiler {
  readonly options: EngineOptions
  readonly cohorts: ReadonlyMap<string, CohortDefinition>
  readonly pool: PredicatePool
  /** The name of the group type by entity; entity 0 is the person. */
  readonly groupTypes: readonly (string | undefined)[]
  /** Whether any flag or filter so far refers to a group. */
  usesGroups = false
  readonly #outcomes = new OutcomeFactory()
  readonly #plans = new PlanPool()
  readonly #entityProperties = new Map<string, number>()

  constructor(definitions: Omit<Definitions, 'flags'>, options: EngineOptions) {
    this.options = options
    this.cohorts = new Map(definitions.cohorts.map(cohort => [String(cohort.id), cohort]))
    this.groupTypes = this.#nameEntities(definitions.groupTypes)
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

  #nameEntities(groupTypes: Definitions['groupTypes']): (string | undefined)[] {
    const names: (string | undefined)[] = [undefined]
    for (const index of Object.keys(groupTypes)) {
      const name = own(groupTypes, index)
      if (typeof name === 'string' && name !== '') this.#entityProperties.set(index, names.push(name) - 1)
    }
    return names
  }

  get conditions(): ConditionTable {
    return this.#plans.conditions
  }

  /** The number of interned objects. It only grows, also when flags are replaced. */
  get size(): number {
    return this.pool.predicates.length + this.#outcomes.size + this.#plans.size
  }

  compileFlag(definition: FlagDefinition, report: Report): { flag: CompiledFlag; filters: ParsedFilters | undefined } {
    const filters = parseFilters(definition.filters, report)
    const { id, key, version, active } = definition
    const outcomes = this.#outcomesOf(definition, filters)
    const options = { pool: this.pool, plans: this.#plans, entityOf: this.entityOf, report }
    const planned = filters === undefined ? null : planFlag(definition, filters, outcomes, options)
    const plan = active && definition.override === undefined ? planned : null
    if (filters !== undefined) checkFilters(filters, report)
    const flag: CompiledFlag = {
      id,
      key,
      version,
      active,
      definition,
      outcomes,
      plan,
      references: plan === null ? noReferences : this.#referencesOf(plan),
    }
    return { flag, filters }
  }

  #outcomesOf(definition: FlagDefinition, filters: ParsedFilters | undefined): readonly Outcome[] {
    const { active, override } = definition
    if (!active) return [this.#outcomes.off('flag_disabled', null)]
    if (override?.value === false) return [this.#outcomes.off('override', null)]
    if (override !== undefined) return [this.#outcomes.on(override.value, override.payload, 'override', null)]
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

  /** The inputs of a flag's predicates, including those of its cohorts, each once. */
  #readsOf(plan: Plan): Reads[] {
    const ids = new Set(this.conditions.allOf(plan).flatMap(({ predicates }) => predicates))
    for (const id of ids) {
      const reads = this.pool.reads[id]!
      if (reads.kind === 'cohort') for (const inner of reads.predicates) ids.add(inner)
    }
    return [...ids].map(id => this.pool.reads[id]!)
  }
}
