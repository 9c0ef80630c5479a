import type { EnvironmentSet } from './environment.ts'

export interface EnvironmentStore {
  /** Raises `invalid` (`environments`) when a project is in a set already. */
  create(set: Omit<EnvironmentSet, 'id'>): Promise<EnvironmentSet>
  /** Throws `StaleWrite` unless the version is exactly one above the stored one. Raises `invalid` as `create`. */
  save(set: EnvironmentSet): Promise<void>
  remove(setId: number): Promise<void>
  find(organizationId: string, setId: number): Promise<EnvironmentSet | undefined>
  /** By name; an organization has few. */
  list(organizationId: string): Promise<readonly EnvironmentSet[]>
  /** The set of a project; null when it is in none. */
  setOf(projectId: number): Promise<number | null>
}
