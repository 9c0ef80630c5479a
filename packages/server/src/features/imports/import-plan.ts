import { createHash } from 'node:crypto'
import type { ImportedCohort, ImportedFlag, ImportItem, ImportSource } from '@halyard/migrate/model'
import type { Cohort } from '../../domain/cohort.ts'
import type { Flag } from '../../domain/flag.ts'
import type { Instant } from '../../instant.ts'
import type { User } from '../../tenancy.ts'

/** A file of another service as it would be imported. */
export interface ImportPlan {
  readonly id: number
  readonly organizationId: string
  readonly source: ImportSource
  readonly targets: readonly ImportTarget[]
  /** The name of the environment set that is created for targets without a project. */
  readonly newEnvironmentSet: string | null
  readonly createdBy: User
  readonly createdAt: Instant
  readonly expiresAt: Instant
  readonly appliedAt: Instant | null
}

export interface ImportTarget {
  /** Null until the project is created. */
  readonly projectId: number | null
  /** The environment in the file. */
  readonly environment: string | null
  /** The environment in the set, when the import is into one. */
  readonly name: string | null
  /** The names of the group types that the import creates. A node of an older version writes none. */
  readonly newGroupTypes?: readonly string[]
  /** Archived flags of the file that are left out. */
  readonly archived?: number
}

export type Status = ImportItem['status']
export type Drift = 'new' | 'unchanged' | 'changed_at_source' | 'changed_here' | 'changed_both' | 'exists_here'
export type Outcome = 'created' | 'updated' | 'unchanged' | 'skipped'

export interface PlannedItem extends ImportItem {
  /** In the order in which items are imported. */
  readonly position: number
  /** Index in the plan's targets. */
  readonly target: number
  readonly projectId: number | null
  readonly drift: Drift
  /** Null when refused. */
  readonly definition: Definition | null
  readonly outcome: Outcome | null
}

export type Definition = { readonly flag: ImportedFlag } | { readonly cohort: ImportedCohort }

/** Which flag or cohort came from an item of another service. */
export interface ImportLink {
  readonly kind: ImportItem['kind']
  readonly sourceId: string
  readonly flagId: number | null
  readonly cohortId: number | null
  /** Of both sides, when they were last imported. */
  readonly sourceHash: string
  readonly targetHash: string
}

const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url')

export const sourceHashOf = (definition: Definition): string => hashOf(definition)

/** Only the fields that an import writes. */
export const flagHash = (flag: Flag, payloadSchema?: Readonly<Record<string, unknown>>): string =>
  hashOf([
    flag.key,
    flag.name,
    flag.filters,
    flag.active,
    flag.tags,
    flag.archived,
    flag.ensureExperienceContinuity,
    flag.bucketingIdentifier,
    ...(payloadSchema ? [payloadSchema] : []),
  ])

export const cohortHash = ({ name, isStatic, filters }: Pick<Cohort, 'isStatic' | 'filters'> & { name?: string }) =>
  hashOf([name, isStatic, isStatic ? null : filters])

/** `currentHashes` is empty when nothing was imported, or when it was deleted here. */
export function driftOf(
  link: ImportLink | undefined,
  sourceHash: string,
  currentHashes: readonly string[],
  isKeyTaken: boolean,
): Drift {
  if (!link || currentHashes.length === 0) return isKeyTaken ? 'exists_here' : 'new'
  const isChangedHere = !currentHashes.includes(link.targetHash)
  if (link.sourceHash === sourceHash) return isChangedHere ? 'changed_here' : 'unchanged'
  return isChangedHere ? 'changed_both' : 'changed_at_source'
}
