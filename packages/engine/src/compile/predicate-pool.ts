import type { CohortDefinition, EngineOptions } from '../definition/definition.ts'
import { acceptsNull, matchesMissing, type Operator, readsClock } from '../definition/operator.ts'
import { type ParsedGroup, parseCohortFilters } from '../definition/parse-cohort.ts'
import type { CohortProperty, FlagProperty, ParsedProperty, ValueProperty } from '../definition/parse-property.ts'
import { ValueMemo } from '../evaluate/result-cache.ts'
import { NO_MEMO, PERSON, type Predicate, type Run } from '../evaluate/run.ts'
import {
  doubtOf,
  FAILED,
  FALSE,
  hasFailed,
  joinDoubts,
  negate,
  REMOTE,
  TRUE,
  type Truth,
  truthOf,
  UNSURE,
  UNSURE_FALSE,
  UNSURE_TRUE,
} from '../evaluate/ternary.ts'
import { compileTest, type Misfit, type Test } from './match/compile-test.ts'

/** What a predicate reads, so that a caller knows what to gather. */
export type Reads =
  | { readonly kind: 'property'; readonly bag: number; readonly fallback: number; readonly key: string }
  | { readonly kind: 'cohort'; readonly predicates: readonly number[] }
  | { readonly kind: 'staticCohort'; readonly id: number }
  | { readonly kind: 'flag'; readonly reference: string }
  | { readonly kind: 'nothing' }
  /** It refers to a cohort that does not exist or contains itself. */
  | { readonly kind: 'failure' }

export interface PredicateOptions extends EngineOptions {
  readonly propertyMatchingVersion: 1 | 2
  readonly cohorts: ReadonlyMap<string, CohortDefinition>
  /** The bag of a group type by its index as text; undefined for a type that the project does not have. */
  readonly bagOf: (groupIndex: string) => number | undefined
}

/** Filters of a cohort, of which all have to hold, or any. */
interface Group {
  readonly every: boolean
  readonly members: readonly Member[]
}

/** A filter, or a group of them. */
interface Member {
  readonly id: number
  readonly negated: boolean
  readonly group: Group | null
}

const NO_FILTER = -1

/** Cohorts within cohorts beyond this depth cannot be evaluated. */
export const cohortNestingMax = 50

/** Numbers every distinct filter once. The same filter in a hundred flags is decided once for a subject. */
export class PredicatePool {
  readonly predicates: Predicate[] = []
  readonly reads: Reads[] = []
  /** The filters whose value does not fit their operator. */
  readonly misfits = new Map<number, Misfit>()
  /** Whether any filter asks for another flag. */
  hasReferences = false
  /** Whether any filter can only fail. */
  hasFailures = false
  /** By predicate: where its answers are remembered, and its place there; `NO_MEMO` where they are not. */
  readonly memoOf: number[] = []
  readonly placeOf: number[] = []
  readonly memos: ValueMemo[] = []
  readonly #ids = new Map<string, number>()
  readonly #memosByKey = new Map<string, number>()
  #rememberedCount = 0
  readonly #options: PredicateOptions
  readonly #openCohorts: string[] = []

  constructor(options: PredicateOptions) {
    this.#options = options
  }

  /** The number of the filter, as a condition about `bag` reads it. */
  idOf(property: ParsedProperty, bag: number): number {
    switch (property.kind) {
      case 'value':
        return this.#idOfValue(property, bag)
      case 'cohort':
        return this.#idOfCohort(property, bag)
      case 'flag':
        return this.#idOfFlag(property)
    }
  }

  #intern(name: string, make: () => { predicate: Predicate; reads: Reads }): number {
    const known = this.#ids.get(name)
    if (known !== undefined) return known
    const { predicate, reads } = make()
    const id = this.predicates.push(predicate) - 1
    this.reads.push(reads)
    this.memoOf.push(NO_MEMO)
    this.placeOf.push(0)
    if (reads.kind === 'flag') this.hasReferences = true
    if (reads.kind === 'failure') this.hasFailures = true
    this.#ids.set(name, id)
    return id
  }

  /**
   * The client libraries look in the properties of what the condition is about, whatever the filter's own type. Where
   * that has no such property, we look at what the type names.
   */
  #idOfValue(property: ValueProperty, bag: number): number {
    const named = property.group === null ? PERSON : (this.#options.bagOf(property.group) ?? bag)
    const { key, operator, value } = property
    if (operator === undefined) return this.#constant(UNSURE_FALSE)
    const name = `value ${bag} ${named} ${operator} ${key.length} ${key} ${nameOf(value)}`
    const id = this.#intern(name, () => {
      const { test, misfit } = compileTest(operator, value, this.#options)
      if (misfit !== undefined) this.misfits.set(this.predicates.length, misfit)
      return {
        predicate: valuePredicate(key, operator, test, bag, named),
        reads: { kind: 'property', bag, fallback: named, key },
      }
    })
    if (isPlainRead(bag, key) && !readsClock(operator)) this.#remember(id, key)
    return id
  }

  #remember(id: number, key: string): void {
    if (this.memoOf[id] !== NO_MEMO) return
    const known = this.#memosByKey.get(key)
    if (this.#rememberedCount === rememberedMax || (known === undefined && this.memos.length === memosMax)) return
    this.#rememberedCount++
    const memo = known ?? this.memos.push(new ValueMemo(key)) - 1
    this.#memosByKey.set(key, memo)
    this.memoOf[id] = memo
    this.placeOf[id] = this.memos[memo]!.addFilter()
  }

  #idOfFlag({ reference, expected }: FlagProperty): number {
    return this.#intern(`flag ${JSON.stringify([reference, expected])}`, () => ({
      predicate: flagPredicate(reference, expected),
      reads: { kind: 'flag', reference },
    }))
  }

  #idOfCohort({ id, excluded }: CohortProperty, bag: number): number {
    const member = this.#idOfMembership(id, bag)
    if (!excluded) return member
    return this.#intern(`not ${member}`, () => ({
      predicate: run => negate(run.decide(member)),
      reads: { kind: 'cohort', predicates: [member] },
    }))
  }

  #idOfMembership(id: string, bag: number): number {
    const cohort = this.#options.cohorts.get(id)
    if (cohort === undefined || this.#openCohorts.includes(id) || this.#openCohorts.length >= cohortNestingMax) {
      return this.#constant(FAILED)
    }
    if (cohort.isStatic) return this.#idOfStaticCohort(cohort.id)
    const name = `cohort ${bag} ${id}`
    const known = this.#ids.get(name)
    if (known !== undefined) return known
    this.#openCohorts.push(id)
    const made = this.#membership(cohort, bag)
    this.#openCohorts.pop()
    return this.#intern(name, () => made)
  }

  #membership(cohort: CohortDefinition, bag: number): { predicate: Predicate; reads: Reads } {
    const tree = parseCohortFilters(cohort.filters, () => {})
    if (tree === undefined) return { predicate: () => FAILED, reads: { kind: 'failure' } }
    const predicates: number[] = []
    const group = this.#group(tree, bag, predicates)
    return { predicate: run => groupTruth(run, group), reads: { kind: 'cohort', predicates } }
  }

  #group(group: ParsedGroup, bag: number, used: number[]): Group {
    const members = group.members.map((member): Member => {
      if (member.kind === 'group') return { id: NO_FILTER, negated: false, group: this.#group(member, bag, used) }
      // Within a cohort only `negation` turns a filter round; the client libraries do not read not_in there.
      const id = member.kind === 'cohort' ? this.#idOfMembership(member.id, bag) : this.idOf(member, bag)
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

  #constant(truth: Truth): number {
    const reads: Reads = { kind: truth === FAILED ? 'failure' : 'nothing' }
    return this.#intern(`constant ${truth}`, () => ({ predicate: () => truth, reads }))
  }
}

/** So many properties, and filters on them all, have their answers remembered in a project: what callers send must not fill the memory. */
const memosMax = 64
const rememberedMax = 4096

/** Distinct for distinct values. */
const nameOf = (value: unknown): string => (typeof value === 'string' ? `text ${value}` : JSON.stringify(value))

/** A name that every object inherits must be looked up with care. With other names the plain case comes first. */
const isPlainRead = (bag: number, key: string): boolean => bag === PERSON && !(key in Object.prototype)

function valuePredicate(key: string, operator: Operator, test: Test, bag: number, fallback: number): Predicate {
  const missing = matchesMissing(operator) ? UNSURE_TRUE : UNSURE_FALSE
  const readsPresence = operator === 'is_set' || operator === 'is_not_set'
  const nullMatches = acceptsNull(operator)
  const decideFound: Predicate = run => {
    const from = run.hasProperty(bag, key) ? bag : fallback
    if (from !== bag && !run.hasProperty(from, key)) return missing
    const seen = run.property(from, key)
    let truth: Truth
    if (seen === undefined) truth = readsPresence && run.hasProperty(from, key) ? test(seen, run.now) : missing
    else truth = seen === null && !nullMatches ? FALSE : test(seen, run.now)
    return from === bag ? truth : (truth & TRUE) | UNSURE
  }
  if (!isPlainRead(bag, key)) return decideFound
  return run => {
    const seen = run.bags[PERSON]![key]
    return seen === undefined || seen === null ? decideFound(run) : test(seen, run.now)
  }
}

function staticMembership(run: Run, id: number): Truth {
  try {
    return truthOf(run.subject.inStaticCohort?.(id) === true) | REMOTE
  } catch {
    return FAILED
  }
}

function flagPredicate(reference: string, expected: boolean | string | undefined): Predicate {
  return run => {
    const dependency = run.dependency(reference)
    if (dependency === undefined) return FAILED
    return truthOf(evaluatesTo(dependency.outcome.value, expected)) | dependency.doubt
  }
}

function evaluatesTo(value: boolean | string, expected: boolean | string | undefined): boolean {
  return expected === true ? value === true || (typeof value === 'string' && value !== '') : value === expected
}

/**
 * All of the members, or any. A certain member that decides is the end, even after doubtful ones; once only the server
 * knows a member, a client library stops asking.
 */
function groupTruth(run: Run, { members, every }: Group): Truth {
  let answer = every
  let doubt = 0
  for (let index = 0; index < members.length; index++) {
    const truth = memberTruth(run, members[index]!)
    const isCertain = doubtOf(truth) === 0
    const failed = hasFailed(truth)
    if (failed && answer === every) return FAILED
    const decides = !failed && ((truth & 1) === 1) !== every
    if (decides && doubt !== REMOTE && isCertain) return truth
    if (!isCertain) doubt = doubtOf(truth) === REMOTE ? REMOTE : joinDoubts(doubt, doubtOf(truth))
    if (decides) answer = !every
  }
  return truthOf(answer) | doubt
}

function memberTruth(run: Run, { id, negated, group }: Member): Truth {
  const truth = group === null ? run.decide(id) : groupTruth(run, group)
  return negated ? negate(truth) : truth
}
