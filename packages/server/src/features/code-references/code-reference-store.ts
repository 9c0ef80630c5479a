import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'

/** A line of source code that names a flag. */
export interface CodeReference {
  readonly flagKey: string
  readonly path: string
  readonly line: number
  /** The line, shortened; may be empty. */
  readonly excerpt: string
}

/** What was scanned. */
export interface CodeScan {
  readonly repository: string
  readonly branch: string | null
  readonly commit: string | null
  readonly scannedAt: Instant
}

export interface CodeRepository extends CodeScan {
  readonly id: number
  readonly referenceCount: number
}

/** How often code names a flag, and in which repositories. */
export interface CodeUse {
  readonly count: number
  readonly repositories: readonly string[]
}

export interface CodeReferenceStore {
  /** Replaces all references of the repository. Raises `invalid` when the project has too many repositories. */
  replace(projectId: number, scan: CodeScan, references: readonly CodeReference[]): Promise<CodeRepository>
  /** By name. */
  listRepositories(projectId: number): Promise<readonly CodeRepository[]>
  /** False when the project has no such repository. */
  removeRepository(projectId: number, repositoryId: number): Promise<boolean>
  /** By repository, path and line. */
  listOfFlag(projectId: number, flagKey: string, window: Window): Promise<PageOf<CodeReference & CodeScan>>
  useOf(projectId: number, flagKey: string): Promise<CodeUse>
}
