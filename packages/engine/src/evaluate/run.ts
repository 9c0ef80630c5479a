import type { Subject } from '../definition/definition.ts'
import { type JsonRecord, own, plainText } from '../definition/json.ts'
import { Buckets } from './buckets.ts'
import type { Outcome } from './outcome.ts'
import type { Truth } from './ternary.ts'

/** The person is bag 0; each group type that a snapshot knows is another. */
export const PERSON = 0

/** The truth of a predicate that nobody has asked for yet. */
export const UNKNOWN = 255

export type Predicate = (run: Run) => Truth

/** What a predicate may want to know about another flag. */
export interface Dependency {
  readonly outcome: Outcome
  /** How sure a client library is of it. */
  readonly doubt: number
}

/** What filters have answered to values that other subjects had as well. */
export interface Memos {
  readonly memos: readonly Memo[]
  /** By predicate, or `NO_MEMO`. */
  readonly memoOf: readonly number[]
  readonly placeOf: readonly number[]
}

interface Memo {
  readonly key: string
  readonly table: Uint8Array
  /** Where the answers to a value begin in the table; less than 0 when they are not remembered. */
  rowOf(value: unknown): number
}

export const NO_MEMO = -1
const NOT_ASKED = -2

export interface RunOptions {
  readonly predicates: readonly Predicate[]
  readonly memos: Memos
  readonly predicateCount: number
  readonly flagCount: number
  /** The name of the group type by bag. */
  readonly groupTypes: readonly (string | undefined)[]
  /** Finds a flag that has been evaluated before. */
  readonly dependency: (run: Run, reference: string) => Dependency | undefined
}

const nobody: Subject = Object.freeze({ distinctId: '' })
const nothing: JsonRecord = Object.freeze({})
const noTable = new Uint8Array(0)

function recordOr(value: unknown): JsonRecord {
  return typeof value === 'object' && value !== null ? (value as JsonRecord) : nothing
}

/** What is known while one subject is evaluated. A run can be opened again for the next subject. */
export class Run {
  subject: Subject = nobody
  distinctId = ''
  now = 0
  /** The position of the flag that is being decided. */
  position = 0
  /** The properties by bag; undefined when the subject has no such group. */
  readonly bags: (JsonRecord | undefined)[] = [nothing]
  /** The key of the subject's group by bag. */
  readonly groupKeys: (string | number)[] = ['']
  /** The truths that are known by predicate, `UNKNOWN` elsewhere. */
  readonly truths: Uint8Array
  /** The predicates whose truths are known. */
  readonly #decided: Int32Array
  #decidedCount = 0
  /** The outcome of each flag that has been decided, by position. */
  readonly outcomes: number[]
  /** Of a flag and all that it depends on, the first one that a client library declines. */
  readonly doubts = new Map<number, { readonly doubt: number; readonly place: number }>()
  readonly predicates: readonly Predicate[]
  readonly #memos: Memos
  /** By memo: its table, and the row of this subject's value. */
  readonly #tables: Uint8Array[] = []
  readonly #rows: number[] = []
  readonly #options: RunOptions
  readonly buckets = new Buckets()

  constructor(options: RunOptions) {
    this.#options = options
    this.predicates = options.predicates
    this.#memos = options.memos
    this.truths = new Uint8Array(options.predicateCount).fill(UNKNOWN)
    this.#decided = new Int32Array(options.predicateCount)
    this.outcomes = Array.from({ length: options.flagCount }, () => 0)
  }

  open(subject: Subject, now: number): void {
    this.subject = subject
    this.distinctId = plainText(subject.distinctId)
    this.now = now
    this.bags[PERSON] = recordOr(subject.personProperties)
    const { groupTypes } = this.#options
    if (groupTypes.length > 1) this.#openGroups(groupTypes)
  }

  #openGroups(groupTypes: readonly (string | undefined)[]): void {
    const groups = recordOr(this.subject.groups)
    const properties = recordOr(this.subject.groupProperties)
    for (let bag = 1; bag < groupTypes.length; bag++) {
      const type = groupTypes[bag]!
      const key = own(groups, type)
      this.groupKeys[bag] = typeof key === 'number' ? key : plainText(key)
      this.bags[bag] = key === undefined ? undefined : recordOr(own(properties, type))
    }
  }

  /** Lets go of the subject. */
  close(): void {
    this.subject = nobody
    for (let bag = 0; bag < this.bags.length; bag++) this.bags[bag] = undefined
    for (let index = 0; index < this.#decidedCount; index++) this.truths[this.#decided[index]!] = UNKNOWN
    this.#decidedCount = 0
    for (let memo = 0; memo < this.#rows.length; memo++) this.#rows[memo] = NOT_ASKED
    if (this.doubts.size > 0) this.doubts.clear()
    this.buckets.clear()
  }

  /** The truth of a predicate, found out at most once in a run. */
  decide(id: number): Truth {
    const known = this.truths[id]!
    if (known !== UNKNOWN) return known
    const memo = this.#memos.memoOf[id]!
    const truth = memo === NO_MEMO ? this.predicates[id]!(this) : this.#remembered(id, memo)
    this.truths[id] = truth
    this.#decided[this.#decidedCount++] = id
    return truth
  }

  #remembered(id: number, memo: number): Truth {
    let row = this.#rows[memo] ?? NOT_ASKED
    if (row === NOT_ASKED) row = this.#findRow(memo)
    if (row < 0) return this.predicates[id]!(this)
    const table = this.#tables[memo]!
    const at = row + this.#memos.placeOf[id]!
    const known = table[at]!
    if (known !== UNKNOWN) return known
    const truth = this.predicates[id]!(this)
    table[at] = truth
    return truth
  }

  #findRow(index: number): number {
    while (this.#rows.length <= index) {
      this.#rows.push(NOT_ASKED)
      this.#tables.push(noTable)
    }
    const memo = this.#memos.memos[index]!
    const row = memo.rowOf(this.bags[PERSON]![memo.key])
    this.#rows[index] = row
    this.#tables[index] = memo.table
    return row
  }

  /** Whom a flag about the person or about a group is hashed for, where nothing else is asked for. */
  identifierOf(bag: number): string {
    return bag === PERSON ? this.distinctId : String(this.groupKeys[bag])
  }

  dependency(reference: string): Dependency | undefined {
    return this.#options.dependency(this, reference)
  }

  /** The properties of the person or of a group, with what the engine adds: `distinct_id` and `$group_key`. */
  property(bag: number, key: string): unknown {
    const properties = this.bags[bag]
    if (properties === undefined) return undefined
    if (Object.hasOwn(properties, key)) return properties[key]
    if (bag === PERSON) return key === 'distinct_id' ? this.distinctId : undefined
    return key === '$group_key' ? this.groupKeys[bag] : undefined
  }

  hasProperty(bag: number, key: string): boolean {
    const properties = this.bags[bag]
    if (properties === undefined) return false
    return Object.hasOwn(properties, key) || key === (bag === PERSON ? 'distinct_id' : '$group_key')
  }
}
