import { PERSON } from '../evaluate/run.ts'
import type { CompiledFlag, Compiler } from './compiler.ts'
import type { PlannedCondition } from './condition-table.ts'

/** What the caller has to look up before it evaluates. An empty set means that no lookup is needed. */
export interface Requirements {
  /** Names of the person properties that flags read. */
  readonly personProperties: ReadonlySet<string>
  /** Names of the group types that flags are about or read. */
  readonly groupTypes: ReadonlySet<string>
  /** Names of the group properties that flags read, by group type. */
  readonly groupProperties: ReadonlyMap<string, ReadonlySet<string>>
  readonly staticCohorts: ReadonlySet<number>
  /** Keys of the flags that need stored hash keys. */
  readonly continuityFlags: readonly string[]
  readonly deviceId: boolean
  /** Names of the events that cohorts count, and the days of the longest window; 0 without any. */
  readonly events: ReadonlySet<string>
  readonly eventDays: number
}

export function requirementsOf(flags: readonly CompiledFlag[], compiler: Compiler): Requirements {
  const gathering = new Gathering(compiler)
  for (const flag of flags) gathering.addFlag(flag)
  return gathering
}

class Gathering implements Requirements {
  readonly personProperties = new Set<string>()
  readonly groupTypes = new Set<string>()
  readonly groupProperties = new Map<string, Set<string>>()
  readonly staticCohorts = new Set<number>()
  readonly continuityFlags: string[] = []
  deviceId = false
  readonly events = new Set<string>()
  eventDays = 0
  readonly #compiler: Compiler
  readonly #visited: Uint8Array

  constructor(compiler: Compiler) {
    this.#compiler = compiler
    this.#visited = new Uint8Array(compiler.pool.reads.length)
  }

  addFlag({ key, plan }: CompiledFlag): void {
    if (plan === null) return
    if (plan.continuity) this.continuityFlags.push(key)
    if (plan.byDevice) {
      this.deviceId = true
      this.personProperties.add('$device_id')
    }
    if (plan.enrollmentKey !== null) this.personProperties.add(plan.enrollmentKey)
    this.#addGroupType(plan.entity)
    for (const condition of this.#compiler.conditions.allOf(plan)) this.#addCondition(condition)
  }

  #addCondition({ custom, entity, predicates }: PlannedCondition): void {
    this.#addGroupType(entity)
    for (const bucketing of [custom?.rollout, custom?.split?.bucketing]) {
      if (typeof bucketing?.by === 'string') this.#addProperty(entity, bucketing.by)
    }
    for (const predicate of predicates) this.#addPredicate(predicate)
  }

  #addGroupType(entity: number): void {
    const type = this.#compiler.groupTypes[entity]
    if (type !== undefined) this.groupTypes.add(type)
  }

  #addPredicate(id: number): void {
    if (this.#visited[id] === 1) return
    this.#visited[id] = 1
    const reads = this.#compiler.pool.reads[id]!
    if (reads.kind === 'staticCohort') this.staticCohorts.add(reads.id)
    if (reads.kind === 'behavior') {
      this.events.add(reads.event)
      this.eventDays = Math.max(this.eventDays, reads.days)
    }
    if (reads.kind === 'cohort') for (const predicate of reads.predicates) this.#addPredicate(predicate)
    if (reads.kind === 'property') {
      this.#addProperty(reads.entity, reads.key)
      this.#addProperty(reads.fallback, reads.key)
    }
  }

  /** The distinct id and group keys are part of the subject. */
  #addProperty(entity: number, key: string): void {
    if (entity === PERSON) {
      if (key !== 'distinct_id') this.personProperties.add(key)
      return
    }
    const type = this.#compiler.groupTypes[entity]
    if (type === undefined) return
    this.groupTypes.add(type)
    if (key === '$group_key') return
    const names = this.groupProperties.get(type) ?? new Set<string>()
    this.groupProperties.set(type, names.add(key))
  }
}
