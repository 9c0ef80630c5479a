import type { Actor } from '../../tenancy.ts'
import type { ProjectState } from './project-state.ts'

/** The states to replicate. A server reads them from its database, an edge receives them from its upstream. */
export interface ProjectStates {
  /** The ids of the projects of the organizations whose admin the key's owner is. Raises `forbidden` when there are none. */
  visibleTo(actor: Actor): Promise<readonly number[]>
  /** Undefined when the project is gone. Raises `unavailable`. */
  find(projectId: number): Promise<ProjectState | undefined>
  /** Keeps the project in memory until the returned function is called. */
  keep(projectId: number): () => void
  /** Called when the state of a project may have changed; without an id, when any state or access may have. */
  onChange(listener: (projectId: number | undefined) => void): () => void
  close(): void
}
