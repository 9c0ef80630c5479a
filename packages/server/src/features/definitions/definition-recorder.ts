import type { IncomingEvent } from '../../domain/event.ts'
import { dateOf, type Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { definitionsPerKindMax, valuesPerProjectMax, valuesPerPropertyMax } from './definition.ts'
import type { DefinitionStore } from './definition-store.sql.ts'
import { observeEvents } from './observe-events.ts'

/** Learns the names and values in the events of projects. */
export interface DefinitionRecorder {
  /** Writes what is new in the transaction that records the events. Call the returned function after the commit. */
  record(tx: Stores, project: Project, events: readonly IncomingEvent[], now: Instant): Promise<() => void>
}

/** Of a busy project, only a sample is examined. */
const eventsPerSecondMax = 100
const projectsMax = 200
const dayMilliseconds = 24 * 60 * 60 * 1000
const nothing = () => {}

/** What is stored for a project: time of the last write by key, and how many of each kind. */
interface Known {
  readonly names: Map<string, number>
  readonly values: Map<string, number>
  readonly counts: Map<string, number>
}

export function createDefinitionRecorder(): DefinitionRecorder {
  const projects = new Map<number, Known>()
  const examined = new Map<number, { second: number; events: number }>()

  function sampleOf(projectId: number, events: readonly IncomingEvent[], time: number): readonly IncomingEvent[] {
    const second = Math.floor(time / 1000)
    const last = examined.get(projectId)
    const used = last?.second === second ? last.events : 0
    const sample = events.slice(0, eventsPerSecondMax - used)
    examined.delete(projectId)
    examined.set(projectId, { second, events: used + sample.length })
    evictOldest(examined)
    return sample
  }

  async function knownOf(store: DefinitionStore, projectId: number): Promise<Known> {
    const cached = projects.get(projectId)
    if (cached) return cached
    const recorded: Known = { names: new Map(), values: new Map(), counts: new Map() }
    for (const { kind, name, lastSeenAt } of await store.list(projectId)) {
      recorded.names.set(nameKey(kind, name), dateOf(lastSeenAt).getTime())
      count(recorded, kind)
    }
    for (const { name, value, lastSeenAt } of await store.listValues(projectId)) {
      recorded.values.set(valueKey(name, value), dateOf(lastSeenAt).getTime())
      count(recorded, valuesOf(name))
    }
    return recorded
  }

  return {
    async record(tx, project, events, now) {
      const time = dateOf(now).getTime()
      const sample = sampleOf(project.id, events, time)
      if (sample.length === 0) return nothing
      const observed = observeEvents(project, sample)
      const recorded = await knownOf(tx.definitions, project.id)
      const isDue = (at: number | undefined) => at === undefined || time - at >= dayMilliseconds
      // The counts include what this call adds, so that one batch cannot exceed the limits.
      const counts = new Map(recorded.counts)
      const hasCapacity = (kind: string, max: number) => {
        const n = counts.get(kind) ?? 0
        if (n >= max) return false
        counts.set(kind, n + 1)
        return true
      }
      const definitions = observed.definitions.filter(({ kind, name }) => {
        const at = recorded.names.get(nameKey(kind, name))
        return isDue(at) && (at !== undefined || hasCapacity(kind, definitionsPerKindMax))
      })
      let valueCount = recorded.values.size
      const values = observed.values.filter(({ name, value }) => {
        const at = recorded.values.get(valueKey(name, value))
        if (at !== undefined) return isDue(at)
        if (valueCount >= valuesPerProjectMax || !hasCapacity(valuesOf(name), valuesPerPropertyMax)) return false
        valueCount += 1
        return true
      })
      if (definitions.length + values.length > 0) await tx.definitions.save(project.id, definitions, values, now)
      return () => {
        for (const { kind, name } of definitions) {
          if (!recorded.names.has(nameKey(kind, name))) count(recorded, kind)
          recorded.names.set(nameKey(kind, name), time)
        }
        for (const { name, value } of values) {
          if (!recorded.values.has(valueKey(name, value))) count(recorded, valuesOf(name))
          recorded.values.set(valueKey(name, value), time)
        }
        projects.delete(project.id)
        projects.set(project.id, recorded)
        evictOldest(projects)
      }
    },
  }
}

const nameKey = (kind: string, name: string): string => `${kind} ${name}`
const valueKey = (name: string, value: unknown): string => `${name} ${JSON.stringify(value)}`
const valuesOf = (name: string): string => `values of ${name}`

const count = ({ counts }: Known, kind: string): void => {
  counts.set(kind, (counts.get(kind) ?? 0) + 1)
}

function evictOldest(map: Map<number, unknown>): void {
  const [oldest] = map.keys()
  if (map.size > projectsMax && oldest !== undefined) map.delete(oldest)
}
