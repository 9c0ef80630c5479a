import type { ConditionTable } from '../compile/condition-table.ts'
import type { Subject } from '../definition/definition.ts'
import { type JsonRecord, own, toText } from '../definition/json.ts'
import { evaluationStepsMax } from '../definition/regex-limits.ts'
import { Buckets } from './buckets.ts'
import type { Outcome } from './outcome.ts'
import { FAILED, hasFailed, type Ternary } from './ternary.ts'

/** The entity of the person; each group type of the project is another entity. */
export const PERSON = 0

/** A group type that does not exist in the project: it has no properties. */
export const NO_ENTITY = -1

/** The result of a predicate that has not been evaluated in this run. */
export const NOT_EVALUATED = 255

export type Predicate = (run: Run) => Ternary

/** The result of another flag that a predicate depends on. */
export interface Dependency {
  readonly outcome: Outcome
  /** Whether PostHog SDKs can evaluate it locally. */
  readonly uncertainty: number
}

/** Cached filter results for values that recur across subjects. */
export interface ResultCaches {
  readonly caches: readonly CachedProperty[]
  /** By predicate, or `NO_CACHE`. */
  readonly cacheOf: readonly number[]
  readonly slotOf: readonly number[]
  readonly regexSizes: readonly number[]
}

interface CachedProperty {
  readonly key: string
  readonly table: Uint8Array
  /** The index of the value's row in the table; negative when it is not cached. */
  rowOf(value: unknown): number
}

export const NO_CACHE = -1
const NOT_LOOKED_UP = -2

export interface RunOptions {
  readonly conditions: ConditionTable
  readonly predicates: readonly Predicate[]
  readonly caches: ResultCaches
  readonly predicateCount: number
  readonly flagCount: number
  /** The name of the group type by entity. */
  readonly groupTypes: readonly (string | undefined)[]
  /** The result of a flag that has been evaluated earlier in the run. */
  readonly dependency: (run: Run, reference: string) => Dependency | undefined
  /** The positions of the flags that PostHog SDKs leave to the server. */
  readonly leftToServer: () => ReadonlySet<number>
}

const noSubject: Subject = Object.freeze({ distinctId: '' })
const noProperties: JsonRecord = Object.freeze({})
const emptyTable = new Uint8Array(0)

function recordOr(value: unknown): JsonRecord {
  return typeof value === 'object' && value !== null ? (value as JsonRecord) : noProperties
}

/** The state of one evaluation. A run is reused for the next subject. */
export class Run {
  subject: Subject = noSubject
  distinctId = ''
  now = 0
  /** The position of the current flag. */
  position = 0
  /** Properties by entity; undefined when the subject has no such group. */
  readonly entityProperties: (JsonRecord | undefined)[] = [noProperties]
  /** The subject's group key by entity. */
  readonly groupKeys: (string | number)[] = ['']
  /** Memoized results by predicate, or `NOT_EVALUATED`. */
  readonly filterResults: Uint8Array
  /** The predicates that have been evaluated. */
  readonly #decided: Int32Array
  #decidedCount = 0
  /** Outcome indexes of the decided flags, by position. */
  readonly outcomes: number[]
  /** By flag: the first one among it and its dependencies that a PostHog SDK declines. */
  readonly uncertainties = new Map<number, { readonly uncertainty: number; readonly place: number }>()
  readonly conditions: ConditionTable
  readonly predicates: readonly Predicate[]
  readonly #caches: ResultCaches
  /** By result cache: its table, and the row of this subject's value. */
  readonly #tables: Uint8Array[] = []
  readonly #rows: number[] = []
  readonly #options: RunOptions
  readonly buckets: Buckets
  #regexStepsLeft = evaluationStepsMax
  /** What matching has taken, without results from the caches. */
  regexSteps = 0

  constructor(options: RunOptions) {
    this.#options = options
    this.conditions = options.conditions
    this.predicates = options.predicates
    this.buckets = new Buckets(options.flagCount)
    this.#caches = options.caches
    this.filterResults = new Uint8Array(options.predicateCount).fill(NOT_EVALUATED)
    this.#decided = new Int32Array(options.predicateCount)
    this.outcomes = Array.from({ length: options.flagCount }, () => 0)
  }

  open(subject: Subject, now: number): void {
    this.subject = subject
    this.distinctId = toText(subject.distinctId)
    this.now = now
    this.#regexStepsLeft = evaluationStepsMax
    this.regexSteps = 0
    this.entityProperties[PERSON] = recordOr(subject.personProperties)
    const { groupTypes } = this.#options
    if (groupTypes.length > 1) this.#openGroups(groupTypes)
  }

  #openGroups(groupTypes: readonly (string | undefined)[]): void {
    const groups = recordOr(this.subject.groups)
    const properties = recordOr(this.subject.groupProperties)
    for (let entity = 1; entity < groupTypes.length; entity++) {
      const type = groupTypes[entity]!
      const key = own(groups, type)
      this.groupKeys[entity] = typeof key === 'number' ? key : toText(key)
      this.entityProperties[entity] = key === undefined ? undefined : recordOr(own(properties, type))
    }
  }

  /** Releases the subject. */
  close(): void {
    this.subject = noSubject
    for (let entity = 0; entity < this.entityProperties.length; entity++) this.entityProperties[entity] = undefined
    for (let index = 0; index < this.#decidedCount; index++) this.filterResults[this.#decided[index]!] = NOT_EVALUATED
    this.#decidedCount = 0
    for (let cache = 0; cache < this.#rows.length; cache++) this.#rows[cache] = NOT_LOOKED_UP
    if (this.uncertainties.size > 0) this.uncertainties.clear()
    this.buckets.clear()
  }

  /** The result of a predicate, memoized for the run. */
  decide(id: number): Ternary {
    const memoized = this.filterResults[id]!
    return memoized === NOT_EVALUATED ? this.#evaluate(id) : memoized
  }

  #evaluate(id: number): Ternary {
    const cache = this.#caches.cacheOf[id]!
    const result = cache === NO_CACHE ? this.predicates[id]!(this) : this.#cached(id, cache)
    this.filterResults[id] = result
    this.#decided[this.#decidedCount++] = id
    return result
  }

  #cached(id: number, cache: number): Ternary {
    let row = this.#rows[cache] ?? NOT_LOOKED_UP
    if (row === NOT_LOOKED_UP) row = this.#findRow(cache)
    if (row < 0) return this.predicates[id]!(this)
    const table = this.#tables[cache]!
    const at = row + this.#caches.slotOf[id]!
    const cached = table[at]!
    if (cached !== NOT_EVALUATED) return this.#canAfford(id, cache) ? cached : FAILED
    const result = this.predicates[id]!(this)
    // A filter that failed for lack of steps may succeed for the next subject.
    if (!hasFailed(result)) table[at] = result
    return result
  }

  /** A cached match costs as much as any other, or results would depend on what was evaluated before. */
  #canAfford(id: number, cache: number): boolean {
    const size = this.#caches.regexSizes[id]!
    if (size === 0) return true
    const value = this.entityProperties[PERSON]![this.#caches.caches[cache]!.key]
    return this.#spend(size * (toText(value).length + 1))
  }

  spendRegexSteps(programSize: number, inputLength: number): boolean {
    const steps = programSize * (inputLength + 1)
    if (!this.#spend(steps)) return false
    this.regexSteps += steps
    return true
  }

  #spend(steps: number): boolean {
    if (steps > this.#regexStepsLeft) return false
    this.#regexStepsLeft -= steps
    return true
  }

  #findRow(index: number): number {
    while (this.#rows.length <= index) {
      this.#rows.push(NOT_LOOKED_UP)
      this.#tables.push(emptyTable)
    }
    const cache = this.#caches.caches[index]!
    const row = cache.rowOf(this.entityProperties[PERSON]![cache.key])
    this.#rows[index] = row
    this.#tables[index] = cache.table
    return row
  }

  /** Whether the subject has such a group. Every subject has a person. */
  has(entity: number): boolean {
    return entity >= 0 && this.entityProperties[entity] !== undefined
  }

  /** What flags about the person or a group are hashed with by default. */
  identifierOf(entity: number): string {
    return entity === PERSON ? this.distinctId : String(this.groupKeys[entity])
  }

  dependency(reference: string): Dependency | undefined {
    return this.#options.dependency(this, reference)
  }

  /** Whether PostHog SDKs leave the current flag to the server. */
  get isLeftToServer(): boolean {
    return this.#options.leftToServer().has(this.position)
  }

  /** A property of the person or a group, including the implicit `distinct_id` and `$group_key`. */
  property(entity: number, key: string): unknown {
    const properties = this.entityProperties[entity]
    if (properties === undefined) return undefined
    if (Object.hasOwn(properties, key)) return properties[key]
    if (entity === PERSON) return key === 'distinct_id' ? this.distinctId : undefined
    return key === '$group_key' ? this.groupKeys[entity] : undefined
  }

  hasProperty(entity: number, key: string): boolean {
    const properties = this.entityProperties[entity]
    if (properties === undefined) return false
    return Object.hasOwn(properties, key) || key === (entity === PERSON ? 'distinct_id' : '$group_key')
  }
}
