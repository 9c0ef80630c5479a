import type { CohortGroup, Condition, FlagFilters, Property } from '../model/model.ts'

/** A project as exporters read it; filters have real ids. */
export interface ExportedProject {
  readonly flags: readonly ExportedFlag[]
  readonly cohorts: readonly ExportedCohort[]
  /** The name of each group type by its index. */
  readonly groupTypes: Readonly<Record<string, string>>
}

export interface ExportedFlag {
  readonly id: number
  readonly key: string
  readonly name: string
  readonly active: boolean
  readonly filters: FlagFilters
  readonly tags: readonly unknown[]
  readonly ensureExperienceContinuity: boolean
  readonly bucketingIdentifier: 'distinct_id' | 'device_id' | null
  readonly payloadSchema?: Readonly<Record<string, unknown>>
}

export interface ExportedCohort {
  readonly id: number
  readonly name: string
  readonly isStatic: boolean
  readonly filters: { readonly properties?: CohortGroup }
}

export const exportFormats = ['flagd', 'openfeature-manifest', 'posthog'] as const
export type ExportFormat = (typeof exportFormats)[number]

export interface ExportResult {
  readonly document: Readonly<Record<string, unknown>>
  /** One for each flag. Refused flags are not in the document. */
  readonly items: readonly ExportItem[]
}

export interface ExportItem {
  readonly key: string
  readonly status: 'exact' | 'approximate' | 'refused'
  readonly reasons: readonly string[]
}

/** What is to be said about one flag while it is written. */
export interface ExportNotes {
  differs(reason: string): void
  refuse(reason: string): never
}

class NotExpressible extends Error {}

/** Writes each flag on its own, so that a refusal concerns no other. */
export function exportEach<T>(
  flags: readonly ExportedFlag[],
  write: (flag: ExportedFlag, notes: ExportNotes) => T,
): { readonly written: readonly { readonly flag: ExportedFlag; readonly result: T }[]; readonly items: ExportItem[] } {
  const written: { flag: ExportedFlag; result: T }[] = []
  const items = flags.map((flag): ExportItem => {
    const reasons = new Set<string>()
    const notes: ExportNotes = {
      differs: reason => void reasons.add(reason),
      refuse(reason) {
        throw new NotExpressible(reason)
      },
    }
    try {
      written.push({ flag, result: write(flag, notes) })
      return { key: flag.key, status: reasons.size === 0 ? 'exact' : 'approximate', reasons: [...reasons] }
    } catch (error) {
      if (!(error instanceof NotExpressible)) throw error
      return { key: flag.key, status: 'refused', reasons: [...reasons, error.message] }
    }
  })
  return { written, items }
}

/** The value of each variant: its payload, or its key. */
export function variantValues({ filters }: ExportedFlag): ReadonlyMap<string, unknown> {
  const variants = filters.multivariate?.variants ?? []
  return new Map(variants.map(({ key }) => [key, parsedPayload(filters.payloads?.[key], key)]))
}

function parsedPayload(payload: unknown, otherwise: string): unknown {
  if (payload === undefined || payload === null || payload === '') return otherwise
  if (typeof payload !== 'string') return payload
  try {
    return JSON.parse(payload)
  } catch {
    return payload
  }
}

export const propertiesOf = ({ filters }: ExportedFlag): Property[] =>
  [...(filters.groups ?? []), ...(Array.isArray(filters.super_groups) ? filters.super_groups : [])].flatMap(
    (group: Condition) => group.properties ?? [],
  )

export const isGroup = (member: CohortGroup | Property): member is CohortGroup => 'values' in member
