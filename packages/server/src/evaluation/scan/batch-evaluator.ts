import {
  compile,
  dayNumber,
  type EvaluateOptions,
  type Outcome,
  personCreatedAt,
  type Snapshot,
  type Subject,
} from '@halyard/engine'
import { linearRegex } from '../linear-regex.ts'
import { type Batch, historyOf, type Needs } from './batch.ts'
import { needsIdentity } from './needs-identity.ts'
import { PropertyLines } from './property-lines.ts'
import type { FlagQuery, ScanRequest, Target } from './scan-request.ts'

/** A combination of outcomes of all queried flags, and how many subjects have it. Interned, so it can be compared by identity. */
export interface OutcomeCombination {
  readonly outcomes: readonly Outcome[]
  count: number
}

/** A trie over the values of the properties that are read. */
type CacheNode = Map<string | undefined, CacheNode | OutcomeCombination>

const cacheNodesMax = 50_000

interface CompiledQuery {
  readonly snapshot: Snapshot
  readonly flagIndex: number
  readonly options: EvaluateOptions
}

/**
 * Evaluates flags for one batch after another. When the outcome depends only on the properties that are read, subjects with equal values
 * share the memoized outcome of the first one.
 */
export class BatchEvaluator {
  readonly needs: Needs
  readonly combinations: OutcomeCombination[] = []
  readonly #target: Target
  readonly #queries: readonly CompiledQuery[]
  readonly #names: readonly string[]
  readonly #lines: PropertyLines
  /** Whether the outcome depends on properties only, so that it can be memoized by their values. */
  readonly #isMemoizable: boolean
  readonly #values: (string | undefined)[]
  readonly #cache: CacheNode = new Map()
  #cacheNodes = 0
  #cacheHits = 0
  readonly #byOutcomes = new Map<string, OutcomeCombination>()

  constructor({ queries, target, now, countedEvents }: ScanRequest, wantsIds: boolean) {
    this.#target = target
    this.#queries = queries.map(query => compileQuery(query, now))
    const requirements = this.#queries.map(({ snapshot }) => snapshot.requirements)
    const isPersons = target.kind === 'persons'
    // An implicit property; a stored property of the same name takes precedence.
    const ownName = isPersons ? 'distinct_id' : '$group_key'
    const readsOwnName = queries.some(query => mentions(query, ownName))
    const names = requirements.flatMap(required => [
      ...(isPersons ? required.personProperties : (required.groupProperties.get(target.type) ?? [])),
    ])
    if (readsOwnName) names.push(ownName)
    this.#names = [...new Set(names)]
    this.#lines = new PropertyLines(this.#names)
    this.#values = this.#names.map(() => undefined)
    const staticCohorts = isPersons ? requirements.flatMap(required => [...required.staticCohorts]) : []
    const continuityFlags = isPersons ? requirements.flatMap(required => required.continuityFlags) : []
    const events = isPersons ? requirements.flatMap(required => [...required.events]) : []
    const isPersonal =
      continuityFlags.length > 0 ||
      readsOwnName ||
      queries.some(({ definitions }) => definitions.flags.some(flag => needsIdentity(flag.filters)))
    this.#isMemoizable = !isPersonal && staticCohorts.length === 0 && events.length === 0
    this.needs = {
      ids: wantsIds || staticCohorts.length > 0 || continuityFlags.length > 0 || events.length > 0,
      identities: isPersonal || !isPersons,
      createdAt: isPersons && names.includes(personCreatedAt),
      staticCohorts: [...new Set(staticCohorts)],
      continuityFlags: [...new Set(continuityFlags)],
      events: new Map(events.flatMap(name => (countedEvents?.get(name) ?? []).map(id => [id, name]))),
      sinceDay: dayNumber(now) - Math.max(0, ...requirements.map(({ eventDays }) => eventDays)),
    }
  }

  /** Calls back for each row of the batch, in order. */
  evaluate(batch: Batch, each: (combination: OutcomeCombination, row: number) => void): void {
    this.#lines.open(batch.properties)
    for (let row = 0; row < batch.size; row++) {
      this.#lines.read(this.#values)
      const combination =
        this.#isMemoizable && this.#isCacheWorthwhile()
          ? this.#evaluateCached(batch, row)
          : this.#evaluateSubject(this.#subject(batch, row))
      combination.count += 1
      each(combination, row)
    }
  }

  #isCacheWorthwhile(): boolean {
    return this.#cacheNodes < cacheNodesMax || this.#cacheHits > cacheNodesMax
  }

  #evaluateCached(batch: Batch, row: number): OutcomeCombination {
    const values = this.#values
    let node = this.#cache
    const last = values.length - 1
    for (let field = 0; field < last; field++) {
      let next = node.get(values[field]) as CacheNode | undefined
      if (next === undefined) {
        next = new Map()
        if (this.#cacheNodes < cacheNodesMax) {
          node.set(values[field], next)
          this.#cacheNodes += 1
        }
      }
      node = next
    }
    const cached = node.get(values[last]) as OutcomeCombination | undefined
    if (cached !== undefined) {
      this.#cacheHits += 1
      return cached
    }
    const combination = this.#evaluateSubject(this.#subject(batch, row))
    if (this.#cacheNodes < cacheNodesMax) {
      node.set(values[last], combination)
      this.#cacheNodes += 1
    }
    return combination
  }

  #evaluateSubject(subject: Subject): OutcomeCombination {
    const results = this.#queries.map(({ snapshot, options }) => snapshot.evaluate(subject, options))
    let key = ''
    for (let index = 0; index < results.length; index++) {
      key += `${results[index]!.outcomeIndex(this.#queries[index]!.flagIndex)} `
    }
    let combination = this.#byOutcomes.get(key)
    if (combination === undefined) {
      const outcomes = results.map((result, index) => result.outcome(this.#queries[index]!.flagIndex)!)
      combination = { outcomes, count: 0 }
      this.#byOutcomes.set(key, combination)
      this.combinations.push(combination)
    }
    return combination
  }

  #subject(batch: Batch, row: number): Subject {
    const properties: Record<string, unknown> = Object.create(null)
    for (let field = 0; field < this.#names.length; field++) {
      const value = this.#values[field]
      if (value !== undefined) properties[this.#names[field]!] = JSON.parse(value)
    }
    const identity = batch.identities[row] ?? ''
    const target = this.#target
    if (target.kind === 'groups') {
      return { distinctId: '', groups: { [target.type]: identity }, groupProperties: { [target.type]: properties } }
    }
    const id = batch.ids[row]
    const cohorts = id === undefined ? undefined : batch.cohorts.get(id)
    const hashKeyOverrides = id === undefined ? undefined : batch.hashKeys.get(id)
    const histories = id === undefined ? undefined : batch.histories.get(id)
    return {
      distinctId: identity,
      personProperties: properties,
      inStaticCohort: cohortId => cohorts?.has(cohortId) ?? false,
      ...(hashKeyOverrides && { hashKeyOverrides }),
      ...(histories && { events: eventsOf(histories) }),
    }
  }
}

const eventsOf = (histories: NonNullable<ReturnType<Batch['histories']['get']>>): NonNullable<Subject['events']> =>
  Object.fromEntries(Object.entries(histories).map(([name, text]) => [name, historyOf(text)]))

/** Conservative: a false positive costs time, never correctness. */
const mentions = ({ definitions }: FlagQuery, name: string): boolean =>
  [...definitions.flags, ...definitions.cohorts].some(({ filters }) =>
    JSON.stringify(filters).includes(JSON.stringify(name)),
  )

function compileQuery({ definitions, key }: FlagQuery, now: number): CompiledQuery {
  const snapshot = compile(definitions, { regex: linearRegex })
  const flagIndex = snapshot.indexOf(key)
  if (flagIndex === undefined) throw new Error(`The definitions contain no flag "${key}".`)
  return { snapshot, flagIndex, options: definitions.flags.length === 1 ? { now } : { keys: [key], now } }
}
