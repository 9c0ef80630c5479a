import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import type { Project } from '../../tenancy.ts'

export interface SecretKey {
  readonly id: string
  readonly projectId: number
  readonly label: string
  readonly hash: string
  readonly mask: string
  readonly createdAt: Instant
}

export interface ProjectStore {
  create(project: Omit<Project, 'id' | 'groupTypes'>): Promise<Project>
  update(project: Project): Promise<void>
  /** With everything in it. */
  remove(projectId: number): Promise<void>
  find(projectId: number): Promise<Project | undefined>
  /** The oldest project there is. */
  findFirst(): Promise<Project | undefined>
  findByUuid(uuid: string): Promise<Project | undefined>
  findByToken(apiToken: string): Promise<Project | undefined>
  findBySecretKey(hash: string): Promise<Project | undefined>
  /** Projects of these organizations, by id; with `projectIds`, only those. */
  list(
    filter: { readonly organizationIds: readonly string[]; readonly projectIds?: readonly number[] },
    window: Window,
  ): Promise<PageOf<Project>>

  /** Locks, until the end of the transaction, what flags and cohorts of the project refer to. */
  holdReferences(projectId: number): Promise<void>
  /** The projects that have live flags, those first whose flags were changed last. */
  listLastChanged(limit: number): Promise<readonly Pick<Project, 'id' | 'apiToken'>[]>

  createSecretKey(key: SecretKey): Promise<void>
  /** Newest first. */
  listSecretKeys(projectId: number, window: Window): Promise<PageOf<SecretKey>>
  /** False when there was none. */
  removeSecretKey(projectId: number, keyId: string): Promise<boolean>
}
