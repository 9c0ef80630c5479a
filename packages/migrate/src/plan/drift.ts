import { createHash } from 'node:crypto'
import type { ImportedCohort, ImportedFlag } from '../model/model.ts'

/** What changed on which side since the last import. */
export type Drift = 'new' | 'unchanged' | 'changed_at_source' | 'changed_here' | 'changed_both' | 'exists_here'

export type Definition = { readonly flag: ImportedFlag } | { readonly cohort: ImportedCohort }

/** The hashes of both sides, when they were last imported. */
export interface LinkHashes {
  readonly sourceHash: string
  readonly targetHash: string
}

/** The fields that an import writes. They are only hashed, so their types do not matter. */
type StoredFlag = Readonly<Record<Exclude<keyof ImportedFlag, 'sourceId' | 'payloadSchema'>, unknown>>

const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url')

export const sourceHashOf = (definition: Definition): string => hashOf(definition)

export const flagHash = (flag: StoredFlag, payloadSchema?: Readonly<Record<string, unknown>>): string =>
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

export const cohortHash = ({
  name,
  isStatic,
  filters,
}: {
  name?: string
  isStatic: boolean
  filters: unknown
}): string => hashOf([name, isStatic, isStatic ? null : filters])

/** `currentHashes` is empty when nothing was imported, or when it was deleted here. */
export function driftOf(
  link: LinkHashes | undefined,
  sourceHash: string,
  currentHashes: readonly string[],
  isKeyTaken: boolean,
): Drift {
  if (!link || currentHashes.length === 0) return isKeyTaken ? 'exists_here' : 'new'
  const isChangedHere = !currentHashes.includes(link.targetHash)
  if (link.sourceHash === sourceHash) return isChangedHere ? 'changed_here' : 'unchanged'
  return isChangedHere ? 'changed_both' : 'changed_at_source'
}
