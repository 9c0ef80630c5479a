import { cohortNestingMax } from '../compile/predicate-pool.ts'
import type { Project } from '../compile/project.ts'
import { toText } from '../definition/json.ts'
import type { Behavior, BehaviorProperty } from '../definition/parse-behavior.ts'
import { type ParsedGroup, parseCohortFilters } from '../definition/parse-cohort.ts'
import {
  type CohortProperty,
  type FlagProperty,
  type ParsedProperty,
  personCreatedAt,
  type ValueProperty,
} from '../definition/parse-property.ts'
import { inputLengthMax } from '../definition/regex-limits.ts'
import { countIn, historyOf } from '../evaluate/event-history.ts'
import { PERSON, type Run } from '../evaluate/run.ts'
import { FAILED, hasFailed, isTrue, negate, type Ternary, uncertaintyOf } from '../evaluate/ternary.ts'
import type {
  BehaviorTrace,
  CohortTrace,
  FilterTrace,
  FlagTrace,
  GroupTrace,
  PropertyTrace,
  RegexLimit,
} from './trace.ts'

/** Explains single filters: what they read and their result. */
export class FilterExplainer {
  readonly #project: Project
  readonly #run: Run
  readonly #openCohorts: string[] = []

  constructor(project: Project, run: Run) {
    this.#project = project
    this.#run = run
  }

  filter(property: ParsedProperty, entity: number): FilterTrace {
    return this.#trace(property, entity, false)
  }

  /** `negation` applies within cohorts only, `inverted` within conditions only. */
  #trace(property: ParsedProperty, entity: number, inCohort: boolean): FilterTrace {
    const negated = inCohort ? property.negated : property.inverted
    switch (property.kind) {
      case 'value':
        return this.#value(property, entity, negated)
      case 'cohort':
        return this.#cohort(property, entity, negated, inCohort)
      case 'flag':
        return this.#flag(property, entity, negated)
      case 'behavior':
        return this.#behavior(property, entity, negated)
    }
  }

  #value(property: ValueProperty, entity: number, negated: boolean): PropertyTrace {
    const { pool, groupTypes } = this.#project.compiler
    const id = pool.idOf(property, entity)
    const reads = pool.reads[id]!
    const { entity: first, fallback } = reads.kind === 'property' ? reads : { entity, fallback: entity }
    const from = this.#run.hasProperty(first, property.key) ? first : fallback
    const result = this.#run.decide(id)
    const isMetadata = property.key === personCreatedAt
    return {
      kind: 'property',
      key: isMetadata ? 'created_at' : property.key,
      operator: property.operator ?? 'unknown',
      value: property.value ?? null,
      source: isMetadata ? 'person_metadata' : from === PERSON ? 'person' : (groupTypes[from] ?? 'group'),
      present: this.#run.hasProperty(from, property.key),
      seen: this.#run.property(from, property.key) ?? null,
      limit: this.#limit(id, this.#run.property(from, property.key), result),
      ...verdict(result, negated),
    }
  }

  #limit(id: number, value: unknown, result: Ternary): RegexLimit | null {
    const { pool } = this.#project.compiler
    if (pool.valueIssues.get(id)?.code === 'regex_too_large') return 'pattern'
    if (pool.regexSizes[id] === 0 || value === undefined) return null
    if (toText(value).length > inputLengthMax) return 'input'
    return hasFailed(result) ? 'budget' : null
  }

  #cohort(property: CohortProperty, entity: number, negated: boolean, inCohort: boolean): CohortTrace {
    const { pool, cohorts } = this.#project.compiler
    const cohort = cohorts.get(property.id)
    const excluded = property.excluded && !inCohort
    const isTooDeep = this.#openCohorts.includes(property.id) || this.#openCohorts.length >= cohortNestingMax
    const result = isTooDeep ? FAILED : this.#run.decide(pool.idOf({ ...property, excluded }, entity))
    return {
      kind: 'cohort',
      id: property.id,
      name: cohort?.name ?? null,
      operator: excluded ? 'not_in' : 'in',
      isStatic: cohort?.isStatic ?? false,
      tree:
        cohort === undefined || cohort.isStatic || isTooDeep ? null : this.#tree(property.id, cohort.filters, entity),
      ...verdict(result, negated),
    }
  }

  #tree(id: string, filters: unknown, entity: number): GroupTrace | null {
    const tree = parseCohortFilters(filters, () => {})
    if (tree === undefined) return null
    this.#openCohorts.push(id)
    const trace = this.#group(tree, entity)
    this.#openCohorts.pop()
    return trace
  }

  #group(group: ParsedGroup, entity: number): GroupTrace {
    const members = group.members.map(member =>
      member.kind === 'group' ? this.#group(member, entity) : this.#trace(member, entity, true),
    )
    const holds = ({ matched }: { matched: boolean }) => matched
    const matched = members.length === 0 || (group.every ? members.every(holds) : members.some(holds))
    return { kind: 'group', type: group.every ? 'AND' : 'OR', matched, members }
  }

  #flag(property: FlagProperty, entity: number, negated: boolean): FlagTrace {
    const { compiler, flags } = this.#project
    const index = this.#project.index.ofReference(property.reference)
    const outcome = this.#run.dependency(property.reference)?.outcome ?? null
    return {
      kind: 'flag',
      reference: property.reference,
      key: index === undefined ? null : flags[index]!.key,
      expected: property.expected ?? null,
      seen: outcome?.value ?? null,
      outcome,
      ...verdict(this.#run.decide(compiler.pool.idOf(property, entity)), negated),
    }
  }

  #behavior(property: BehaviorProperty, entity: number, negated: boolean): BehaviorTrace {
    const { event, measure, operator, count, days } = property.behavior ?? unknownBehavior
    return {
      kind: 'behavior',
      ...{ event, measure, operator, count, days },
      seen: countIn(historyOf(this.#run.subject, event), days, this.#run.now),
      ...verdict(this.#run.decide(this.#project.compiler.pool.idOf(property, entity)), negated),
    }
  }
}

const unknownBehavior: Behavior = { event: '', measure: 'count', operator: 'gte', count: 1, days: 1 }

function verdict(result: Ternary, negated: boolean): Pick<FilterTrace, 'matched' | 'negated' | 'certain' | 'failed'> {
  const matched = isTrue(negated ? negate(result) : result)
  return { matched, negated, certain: uncertaintyOf(result) === 0, failed: hasFailed(result) }
}
