import type { Authorization } from '../../domain/authorization.ts'
import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import type { User } from '../../tenancy.ts'
import type { EditableFlags } from '../access/access.ts'
import type { Flag, FlagContent, FreeObject } from './flag.ts'

export interface FlagFilter {
  readonly deleted: boolean
  /** The archived flags instead of the others; among deleted ones it makes no difference. */
  readonly archived: boolean
  readonly search?: string
  /** Each of these must occur in the key, the name or the tags. */
  readonly words?: readonly string[]
  /** All of these must occur in the key or in the name, in this order. */
  readonly letters?: readonly string[]
  readonly active?: boolean
  /** Only active flags that are older than this and serve no purpose: fully rolled out, or not evaluated since. */
  readonly staleSince?: Instant
  readonly isMultivariant?: boolean
  readonly createdById?: number
  /** Only favorites of this user. */
  readonly favoriteOf?: number
  /** Any of these is enough. */
  readonly tags?: readonly unknown[]
  /** Any of these, in this spelling; `tags` ignores case. */
  readonly exactTags?: readonly unknown[]
  readonly order?: { readonly field: FlagOrder; readonly descending: boolean }
}

export const flagOrders = [
  'created_at',
  'updated_at',
  'key',
  'name',
  'active',
  'id',
  'version',
  'last_called_at',
] as const
export type FlagOrder = (typeof flagOrders)[number]

export interface FlagFacets {
  /** Number of flags by tag, and how many of these the user can edit. */
  readonly tags: ReadonlyMap<string, { readonly flags: number; readonly editable: number }>
  readonly creators: readonly User[]
}

export interface FlagVersion {
  readonly flagId: number
  readonly version: number
  readonly content: FlagContent
  /** Null when Halyard itself acted. */
  readonly user: User | null
  readonly createdAt: Instant
}

/** What one project may hold, so that it cannot take the others' memory and time. */
export interface FlagLimits {
  readonly flagsPerProjectMax: number
  readonly definitionBytesPerProjectMax: number
}

interface Authorized<F> {
  readonly flag: F
  readonly authorization: Authorization
}

export interface FlagStore {
  /** Raises `invalid` (`unique`, `key`) when a live flag of the project has the key. */
  create(flag: Omit<Flag, 'id'>, authorization: Authorization): Promise<Flag>
  /**
   * Saves the flag whose version is one above the stored one. Raises StaleWrite when it is not (another transaction saved first),
   * and `invalid` (`unique`, `key`) when another live flag has the key.
   */
  save(flag: Flag, authorization: Authorization): Promise<void>
  /** As `create` and `save`, with a statement for many flags. */
  createAll(flags: readonly Authorized<Omit<Flag, 'id'>>[]): Promise<readonly Flag[]>
  saveAll(flags: readonly Authorized<Flag>[]): Promise<void>
  /** As `save`, for a flag of which only the dashboards have changed: no person gets another value. */
  saveDashboards(flag: Flag): Promise<void>
  find(projectId: number, flagId: number): Promise<Flag | undefined>
  findLiveByKey(projectId: number, key: string): Promise<Flag | undefined>
  /** Live flags with this key in all projects of an organization, by project. */
  listLiveByKey(organizationId: string, key: string): Promise<readonly Flag[]>
  /** Live flags by id; what does not exist is left out. */
  findLive(projectId: number, flagIds: readonly number[]): Promise<readonly Flag[]>
  /** Flags by id, deleted ones too; what does not exist is left out. */
  findAll(projectId: number, flagIds: readonly number[]): Promise<readonly Flag[]>
  list(projectId: number, filter: FlagFilter, window: Window): Promise<PageOf<Flag>>
  /** Tags and creators of the flags that are neither deleted nor archived. */
  facets(projectId: number, editable: EditableFlags): Promise<FlagFacets>
  /** Every live flag of the project, by key. */
  listLive(projectId: number): Promise<readonly Flag[]>
  /** Live, active flags of all projects with rollback conditions and no rollback yet, by id, after an id. */
  listWatched(afterId: number, limit: number): Promise<readonly Flag[]>
  /** Live, active flags with a condition on another flag. */
  listDependents(projectId: number): Promise<readonly Flag[]>
  /** Flags, deleted ones too, that name the dashboard among their analytics dashboards. */
  listByAnalyticsDashboard(projectId: number, dashboardId: number): Promise<readonly Flag[]>

  /** Raises `invalid` when the project's limits do not allow so many further live flags, or these filters. */
  checkLimits(
    projectId: number,
    added: { readonly flags: number; readonly filters: readonly FreeObject[] },
  ): Promise<void>

  appendVersion(version: FlagVersion): Promise<void>
  appendVersions(versions: readonly FlagVersion[]): Promise<void>
  findVersion(flagId: number, version: number): Promise<FlagVersion | undefined>
  /** Newest first. */
  listVersions(flagId: number, window: Window): Promise<PageOf<FlagVersion>>
}
