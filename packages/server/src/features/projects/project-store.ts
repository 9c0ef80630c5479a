import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import type { PreviousToken, Project } from '../../tenancy.ts'

export interface SecretKey {
  readonly id: string
  readonly projectId: number
  readonly label: string
  readonly hash: string
  readonly mask: string
  readonly createdAt: Instant
}

/** What is written; a field that is undefined keeps its stored value. */
export interface ProjectPatch {
  readonly name?: string | undefined
  readonly timezone?: string | undefined
  readonly propertyMatchingVersion?: 1 | 2 | undefined
  /** Only a reset of the token sends it. */
  readonly apiToken?: string | undefined
  /** Null ends the overlap. */
  readonly previousToken?: PreviousToken | null | undefined
  readonly updatedAt: Instant
}

export interface ProjectStore {
  create(project: Omit<Project, 'id' | 'groupTypes'>): Promise<Project>
  update(projectId: number, patch: ProjectPatch): Promise<void>
  /** With everything in it. */
  remove(projectId: number): Promise<void>
  find(projectId: number): Promise<Project | undefined>
  /** The oldest project there is. */
  findFirst(): Promise<Project | undefined>
  findByUuid(uuid: string): Promise<Project | undefined>
  /** By the current or the previous token; the caller checks whether the previous one is still accepted. */
  findByToken(apiToken: string): Promise<Project | undefined>
  findBySecretKey(hash: string): Promise<Project | undefined>
  /** Projects of these organizations, by id; with `projectIds`, only those. */
  list(
    filter: { readonly organizationIds: readonly string[]; readonly projectIds?: readonly number[] },
    window: Window,
  ): Promise<PageOf<Project>>

  /**
   * Until the transaction ends, no other one adds or removes what flags and cohorts of the project refer to. To be called before a flag or
   * cohort of the project is written, so that all writers take their locks in one order.
   */
  holdReferences(projectId: number): Promise<void>
  /** The projects that have live flags, those first whose flags were changed last. */
  listLastChanged(limit: number): Promise<readonly Pick<Project, 'id' | 'apiToken'>[]>

  createSecretKey(key: SecretKey): Promise<void>
  /** Newest first. */
  listSecretKeys(projectId: number, window: Window): Promise<PageOf<SecretKey>>
  /** False when there was none. */
  removeSecretKey(projectId: number, keyId: string): Promise<boolean>
}
