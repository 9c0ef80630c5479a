import type { Actor } from '../../tenancy.ts'
import type { ProjectState } from './project-state.ts'

/** What there is to hand on to edges. A server has it from its database, an edge from its own upstream. */
export interface ProjectStates {
  /** The ids of the projects that the key's owner may hand on: those of organizations whose admin they are. Raises `forbidden` when there are none. */
  visibleTo(actor: Actor): Promise<readonly number[]>
  /** Undefined when the project is gone. Raises `unavailable`. */
  find(projectId: number): Promise<ProjectState | undefined>
  /** Keeps the project at hand until the answer is called. */
  keep(projectId: number): () => void
  /** Called when a project's state may have changed; without an id, when anything may have, access included. */
  onChange(listener: (projectId: number | undefined) => void): () => void
  close(): void
}
