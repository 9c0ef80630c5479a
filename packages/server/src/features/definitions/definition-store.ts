import type { Instant } from '../../instant.ts'
import type { Properties } from '../persons/properties.ts'
import type { Definition, DefinitionKind, Observed, ObservedValue } from './definition.ts'

export interface StoredValue extends ObservedValue {
  readonly lastSeenAt: Instant
}

export interface DefinitionStore {
  /** Sorted by name; all kinds without `kind`. */
  list(projectId: number, kind?: DefinitionKind): Promise<readonly Definition[]>
  /** Values of all event properties, or of one. */
  listValues(projectId: number, name?: string): Promise<readonly StoredValue[]>
  /** Creates them or renews when they were last seen. */
  save(projectId: number, observed: readonly Observed[], values: readonly ObservedValue[], at: Instant): Promise<void>
  /** Properties of the newest persons, without those too large to sample. */
  samplePersons(projectId: number): Promise<readonly Properties[]>
  sampleGroups(projectId: number, typeIndex: number): Promise<readonly Properties[]>
  removeBefore(definitions: Instant, values: Instant): Promise<void>
}
