import { compile, type Snapshot } from '@halyard/engine'
import { type ImportedProject, sourceIdOf } from '@halyard/importers'
import { linearRegex } from '../../evaluation/linear-regex.ts'

/** A person in the terms of every service. */
export interface ProofContext {
  readonly id: string
  readonly attributes: Readonly<Record<string, unknown>>
}

/** `off` stands for false, null and no value. Everything else is the value of the flag, or true. */
export const OFF = 'off: no value'

export const normalized = (value: unknown): unknown =>
  value === undefined || value === null || value === false ? OFF : value

/** Compiles imported flags as the server would store them. */
export function compileImported(project: ImportedProject): Snapshot {
  const flagIds = new Map(project.flags.map(({ sourceId }, index) => [sourceId, index + 1]))
  const cohortIds = new Map(project.cohorts.map(({ sourceId }, index) => [sourceId, index + 1]))
  const resolved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolved)
    if (typeof value !== 'object' || value === null) return value
    const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolved(inner)]))
    if (copy.type === 'cohort') return { ...copy, value: cohortIds.get(sourceIdOf(String(copy.value))!) }
    if (copy.type === 'flag') return { ...copy, key: String(flagIds.get(sourceIdOf(String(copy.key))!)) }
    return copy
  }
  return compile(
    {
      flags: project.flags.map(
        ({ sourceId, key, active, filters, ensureExperienceContinuity, bucketingIdentifier }) => ({
          id: flagIds.get(sourceId)!,
          key,
          active,
          filters: resolved(filters),
          ...(ensureExperienceContinuity !== undefined && { ensureExperienceContinuity }),
          ...(bucketingIdentifier !== undefined && { bucketingIdentifier }),
        }),
      ),
      cohorts: project.cohorts.map(({ sourceId, name, content }) => ({
        id: cohortIds.get(sourceId)!,
        name,
        isStatic: 'ids' in content,
        filters: 'filters' in content ? resolved(content.filters) : {},
      })),
      groupTypes: {},
      propertyMatchingVersion: 2,
    },
    { regex: linearRegex },
  )
}

/** The value of every flag for one person, by key. */
export function evaluateImported(
  { source }: Pick<ImportedProject, 'source'>,
  snapshot: Snapshot,
  { id, attributes }: ProofContext,
  now: number,
): Map<string, unknown> {
  // Only where a service has no payloads beside the value, the payload is the value.
  const hasPayloads = source === 'posthog' || source === 'flipt'
  const results = snapshot.evaluate({ distinctId: id, personProperties: attributes }, { now })
  return new Map(
    snapshot.flags.map(({ key }) => {
      const { value, payload, failed } = results.get(key)!
      if (failed) return [key, 'failed']
      const isPayload = typeof value === 'string' && payload !== null && !hasPayloads
      return [key, normalized(isPayload ? JSON.parse(payload) : value)]
    }),
  )
}
