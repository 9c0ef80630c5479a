import type { CohortDefinition, EngineOptions } from '../definition/definition.ts'
import { acceptsNull, isStrict, matchesMissing, type Operator, readsClock } from '../definition/operator.ts'
import type { BehaviorProperty } from '../definition/parse-behavior.ts'
import { type ParsedGroup, parseCohortFilters } from '../definition/parse-cohort.ts'
import {
  type CohortProperty,
  type FlagProperty,
  type ParsedProperty,
  personCreatedAt,
  type ValueProperty,
} from '../definition/parse-property.ts'
import { leavesOf } from '../definition/references.ts'
import { historyOf, matchesBehavior } from '../evaluate/event-history.ts'
import { ResultCache } from '../evaluate/result-cache.ts'
import { NO_CACHE, NO_ENTITY, PERSON, type Predicate, type Run } from '../evaluate/run.ts'
import {
  FAILED,
  FALSE,
  hasFailed,
  joinUncertainty,
  negate,
  REMOTE,
  type Ternary,
  TRUE,
  ternaryOf,
  UNKNOWN,
  UNKNOWN_FALSE,
  UNKNOWN_TRUE,
  uncertaintyOf,
} from '../evaluate/ternary.ts'
import { compileTest } from './match/compile-test.ts'
import type { Test, ValueIssue } from './match/value-test.ts'

/** The inputs of a predicate, so that the caller knows what to look up. */
export type Reads =
  | { readonly kind: 'property'; readonly entity: number; readonly fallback: number; readonly key: string }
  | { readonly kind: 'cohort'; readonly predicates: readonly number[] }
  | { readonly kind: 'staticCohort'; readonly id: number }
  | { readonly kind: 'flag'; readonly reference: string }
  | { readonly kind: 'behavior'; readonly event: string; readonly days: number }
  | { readonly kind: 'nothing' }
  /** Refers to a cohort that does not exist or contains itself. */
  | { readonly kind: 'failure' }

export interface PredicateOptions extends EngineOptions {
  readonly propertyMatchingVersion: 1 | 2
  readonly cohorts: ReadonlyMap<string, CohortDefinition>
  /** The entity of a group type index; undefined when the project has no such type. */
  readonly entityOf: (groupIndex: string) => number | undefined
}

/** Filters of a cohort, combined with AND or OR. */
interface Group {
  readonly every: boolean
  readonly members: readonly Member[]
}

/** A filter or a nested group. */
interface Member {
  readonly id: number
  readonly negated: boolean
  readonly group: Group | null
}

const NO_FILTER = -1

/** Deeper nesting of cohorts fails. */
export const cohortNestingMax = 50

/** Interns filters: the same filter in a hundred flags is one predicate, evaluated once per subject. */
export class PredicatePool {
  readonly predicates: Predicate[] = []
  readonly reads: Reads[] = []
  /** By predicate: why its value is invalid for its operator. */
  readonly valueIssues = new Map<number, ValueIssue>()
  /** By predicate about another flag: whether one of its values is the expected one. */
  readonly expected = new Map<number, (value: boolean | string) => boolean>()
  /** The predicates that PostHog SDKs cannot evaluate, cohorts with such filters included. */
  readonly serverOnly = new Set<number>()
  /** Whether any filter refers to another flag. */
  hasReferences = false
  /** Whether any filter always fails. */
  hasFailures = false
  /** By predicate: its result cache and its slot there, or `NO_CACHE`. */
  readonly cacheOf: number[] = []
  readonly slotOf: number[] = []
  /** By predicate: the size of its compiled regular expression, 0 where it has none. */
  readonly regexSizes: number[] = []
  readonly caches: ResultCache[] = []
  readonly #ids = new Map<string, number>()
  readonly #cachesByKey = new Map<string, number>()
  #cachedFilterCount = 0
  readonly #options: PredicateOptions
  readonly #openCohorts: string[] = []

  constructor(options: PredicateOptions) {
    this.#options = options
  }

  /** The predicate id of the filter in a condition about `entity`. */
  idOf(property: ParsedProperty, entity: number): number {
    switch (property.kind) {
      case 'value':
        return this.#idOfValue(property, entity)
      case 'cohort':
        return this.#idOfCohort(property, entity)
      case 'flag':
        return this.#idOfFlag(property)
      case 'behavior':
        return this.#idOfBehavior(property)
    }
  }

  #intern(name: string, make: () => { predicate: Predicate; reads: Reads }): number {
    const existingId = this.#ids.get(name)
    if (existingId !== undefined) return existingId
    const { predicate, reads } = make()
    const id = this.predicates.push(predicate) - 1
    this.reads.push(reads)
    this.cacheOf.push(NO_CACHE)
    this.slotOf.push(0)
    this.regexSizes[id] ??= 0
    if (reads.kind === 'flag') this.hasReferences = true
    if (reads.kind === 'failure') this.hasFailures = true
    this.#ids.set(name, id)
    return id
  }

  #idOfValue(property: ValueProperty, conditionEntity: number): number {
    const { key, operator, value, mode } = property
    if (operator === undefined) return this.#constant(UNKNOWN_FALSE)
    const { entity, named } = this.#entitiesOf(property, operator, conditionEntity)
    const how = `${operator}:${Object.values(mode).map(Number).join('')}`
    const name = `value ${entity} ${named} ${how} ${key.length} ${key} ${nameOf(value)}`
    const id = this.#intern(name, () => {
      const { test, valueIssue, regexSize } = compileTest(operator, value, { ...this.#options, mode })
      this.regexSizes[this.predicates.length] = regexSize ?? 0
      if (valueIssue !== undefined) this.valueIssues.set(this.predicates.length, valueIssue)
      return {
        predicate: isStrict(operator)
          ? strictPredicate(key, test, named)
          : valuePredicate(key, operator, test, entity, named),
        reads: { kind: 'property', entity, fallback: named, key },
      }
    })
    if (isStrict(operator) || key === personCreatedAt) this.serverOnly.add(id)
    if (isDirectRead(entity, key) && !readsClock(operator)) this.#cache(id, key)
    return id
  }

  /**
   * PostHog SDKs read the properties of the condition's entity, whatever the filter's own type. Where that entity has no
   * such property, the engine falls back to the filter's type. Strict operators read what the filter names, and nothing else.
   */
  #entitiesOf(
    { group, isOfGroup }: ValueProperty,
    operator: Operator,
    conditionEntity: number,
  ): { readonly entity: number; readonly named: number } {
    const groupEntity = group === null ? undefined : this.#options.entityOf(group)
    if (!isStrict(operator)) {
      return { entity: conditionEntity, named: group === null ? PERSON : (groupEntity ?? conditionEntity) }
    }
    const named = !isOfGroup ? PERSON : group === null ? conditionEntity : (groupEntity ?? NO_ENTITY)
    return { entity: named, named }
  }

  #cache(id: number, key: string): void {
    if (this.cacheOf[id] !== NO_CACHE) return
    const existing = this.#cachesByKey.get(key)
    if (this.#cachedFilterCount === cachedFiltersMax || (existing === undefined && this.caches.length === cachesMax))
      return
    this.#cachedFilterCount++
    const cache = existing ?? this.caches.push(new ResultCache(key)) - 1
    this.#cachesByKey.set(key, cache)
    this.cacheOf[id] = cache
    this.slotOf[id] = this.caches[cache]!.addFilter()
  }

  #idOfFlag({ reference, expected }: FlagProperty): number {
    const id = this.#intern(`flag ${JSON.stringify([reference, expected])}`, () => ({
      predicate: flagPredicate(reference, expected),
      reads: { kind: 'flag', reference },
    }))
    this.expected.set(id, value => evaluatesTo(value, expected))
    return id
  }

  /** About the person, also in a condition about a group. */
  #idOfBehavior({ behavior }: BehaviorProperty): number {
    if (behavior === undefined) return this.#constant(UNKNOWN_FALSE)
    const { event, days } = behavior
    return this.#intern(`behavior ${JSON.stringify(behavior)}`, () => ({
      predicate: ({ subject, now }) => ternaryOf(matchesBehavior(historyOf(subject, event), behavior, now)) | REMOTE,
      reads: { kind: 'behavior', event, days },
    }))
  }

  #idOfCohort({ id, excluded }: CohortProperty, entity: number): number {
    const member = this.#idOfMembership(id, entity)
    return excluded ? this.#complementOf(member) : member
  }

  #complementOf(id: number): number {
    const complement = this.#negationOf('not', id)
    if (this.serverOnly.has(id)) this.serverOnly.add(complement)
    return complement
  }

  /** PostHog SDKs know `not_in` but not `inverted`, so it has a predicate of its own. */
  inverseOf(id: number): number {
    const inverse = this.#negationOf('inverse', id)
    this.serverOnly.add(inverse)
    return inverse
  }

  #negationOf(kind: string, id: number): number {
    return this.#intern(`${kind} ${id}`, () => ({
      predicate: run => negate(run.decide(id)),
      reads: { kind: 'cohort', predicates: [id] },
    }))
  }

  #idOfMembership(id: string, entity: number): number {
    const cohort = this.#options.cohorts.get(id)
    if (cohort === undefined || this.#openCohorts.includes(id) || this.#openCohorts.length >= cohortNestingMax) {
      return this.#constant(FAILED)
    }
    if (cohort.isStatic) return this.#idOfStaticCohort(cohort.id)
    const name = `cohort ${entity} ${id}`
    const existingId = this.#ids.get(name)
    if (existingId !== undefined) return existingId
    this.#openCohorts.push(id)
    const made = this.#membership(cohort, entity)
    this.#openCohorts.pop()
    const membership = this.#intern(name, () => made)
    const { reads } = made
    if (reads.kind === 'cohort' && reads.predicates.some(used => this.serverOnly.has(used))) {
      this.serverOnly.add(membership)
    }
    return membership
  }

  #membership(cohort: CohortDefinition, entity: number): { predicate: Predicate; reads: Reads } {
    const tree = parseCohortFilters(cohort.filters, () => {})
    if (tree === undefined) return { predicate: () => FAILED, reads: { kind: 'failure' } }
    const predicates: number[] = []
    const group = this.#group(tree, entity, predicates)
    const reads: Reads = { kind: 'cohort', predicates }
    // SDKs do not receive cohorts with behavioral filters, so they decline also where another filter decides.
    const isRemote = leavesOf(tree).some(({ kind }) => kind === 'behavior')
    if (isRemote) return { predicate: run => remote(groupResult(run, group)), reads }
    return { predicate: run => groupResult(run, group), reads }
  }

  #group(group: ParsedGroup, entity: number, used: number[]): Group {
    const members = group.members.map((member): Member => {
      if (member.kind === 'group') return { id: NO_FILTER, negated: false, group: this.#group(member, entity, used) }
      // Within a cohort only `negation` negates a filter; PostHog SDKs ignore not_in there.
      const id = member.kind === 'cohort' ? this.#idOfMembership(member.id, entity) : this.idOf(member, entity)
      used.push(id)
      return { id, negated: member.negated, group: null }
    })
    return { every: members.length === 0 || group.every, members }
  }

  #idOfStaticCohort(id: number): number {
    return this.#intern(`static ${id}`, () => ({
      predicate: run => staticMembership(run, id),
      reads: { kind: 'staticCohort', id },
    }))
  }

  #constant(result: Ternary): number {
    const reads: Reads = { kind: result === FAILED ? 'failure' : 'nothing' }
    return this.#intern(`constant ${result}`, () => ({ predicate: () => result, reads }))
  }
}

/** Bounds the memory of result caches per project: properties, and filters in total. */
const cachesMax = 64
const cachedFiltersMax = 4096

/** Injective: distinct values have distinct names. */
const nameOf = (value: unknown): string => (typeof value === 'string' ? `text ${value}` : JSON.stringify(value))

/** Names that objects inherit, such as `toString`, need an own-property check; others can be read directly. */
const isDirectRead = (entity: number, key: string): boolean => entity === PERSON && !(key in Object.prototype)

function valuePredicate(key: string, operator: Operator, test: Test, entity: number, fallback: number): Predicate {
  const missing = matchesMissing(operator) ? UNKNOWN_TRUE : UNKNOWN_FALSE
  const readsPresence = operator === 'is_set' || operator === 'is_not_set'
  const nullMatches = acceptsNull(operator)
  const decideFound: Predicate = run => {
    const from = run.hasProperty(entity, key) ? entity : fallback
    if (from !== entity && !run.hasProperty(from, key)) return missing
    const seen = run.property(from, key)
    let result: Ternary
    if (seen === undefined) result = readsPresence && run.hasProperty(from, key) ? test(seen, run) : missing
    else result = seen === null && !nullMatches ? FALSE : test(seen, run)
    return from === entity ? result : (result & TRUE) | UNKNOWN
  }
  if (!isDirectRead(entity, key)) return decideFound
  return run => {
    const seen = run.entityProperties[PERSON]![key]
    return seen === undefined || seen === null ? decideFound(run) : test(seen, run)
  }
}

/** The tests of strict operators also read missing values. */
function strictPredicate(key: string, test: Test, entity: number): Predicate {
  return run => test(run.property(entity, key), run)
}

function staticMembership(run: Run, id: number): Ternary {
  try {
    return ternaryOf(run.subject.inStaticCohort?.(id) === true) | REMOTE
  } catch {
    return FAILED
  }
}

function flagPredicate(reference: string, expected: boolean | string | undefined): Predicate {
  return run => {
    const dependency = run.dependency(reference)
    if (dependency === undefined) return FAILED
    return ternaryOf(evaluatesTo(dependency.outcome.value, expected)) | dependency.uncertainty
  }
}

function evaluatesTo(value: boolean | string, expected: boolean | string | undefined): boolean {
  return expected === true ? value === true || (typeof value === 'string' && value !== '') : value === expected
}

/**
 * AND or OR. A certain member that decides ends the evaluation, even after unknown ones; once only the server can
 * evaluate a member, a PostHog SDK stops.
 */
function groupResult(run: Run, { members, every }: Group): Ternary {
  let answer = every
  let uncertainty = 0
  for (let index = 0; index < members.length; index++) {
    const result = memberResult(run, members[index]!)
    const isCertain = uncertaintyOf(result) === 0
    const failed = hasFailed(result)
    if (failed && answer === every) return FAILED
    const decides = !failed && ((result & 1) === 1) !== every
    if (decides && uncertainty !== REMOTE && isCertain) return result
    if (!isCertain)
      uncertainty = uncertaintyOf(result) === REMOTE ? REMOTE : joinUncertainty(uncertainty, uncertaintyOf(result))
    if (decides) answer = !every
  }
  return ternaryOf(answer) | uncertainty
}

const remote = (result: Ternary): Ternary => (hasFailed(result) ? result : (result & TRUE) | REMOTE)

function memberResult(run: Run, { id, negated, group }: Member): Ternary {
  const result = group === null ? run.decide(id) : groupResult(run, group)
  return negated ? negate(result) : result
}
