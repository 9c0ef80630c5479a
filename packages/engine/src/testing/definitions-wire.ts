import type { Definitions } from '../definition/definition.ts'
import { isRecord, type JsonRecord } from '../definition/json.ts'
import { isBehavioral } from '../definition/references.ts'
import { isServerOnly } from '../definition/server-only.ts'
import type { Snapshot } from '../snapshot.ts'

/** The definitions in the format that PostHog SDKs download. */
export function definitionsWire(definitions: Definitions, snapshot: Snapshot): JsonRecord {
  const rewrite = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rewrite)
    if (!isRecord(value)) return value
    const entries = Object.entries(value).map(([key, inner]) => [key, rewrite(inner)])
    const copy = Object.fromEntries(entries)
    if (copy.type !== 'flag') return copy
    const chain = snapshot.dependencyChain(String(copy.key))
    return { ...copy, key: chain.at(-1) ?? copy.key, dependency_chain: chain }
  }
  const dynamic = definitions.cohorts.filter(cohort => !cohort.isStatic && !isBehavioral(cohort.filters))
  return {
    flags: definitions.flags.map(flag => ({
      id: flag.id,
      key: flag.key,
      active: flag.active,
      filters: withPayloadTexts(rewrite(flag.filters)),
      ensure_experience_continuity:
        flag.ensureExperienceContinuity === true || isServerOnly(flag.filters) || snapshot.isLeftToServer(flag.key),
      bucketing_identifier: flag.bucketingIdentifier ?? null,
    })),
    cohorts: Object.fromEntries(
      dynamic.map(({ id, filters }) => [id, rewrite((filters as { properties: unknown }).properties)]),
    ),
    group_type_mapping: definitions.groupTypes,
    property_matching_version: definitions.propertyMatchingVersion,
  }
}

function withPayloadTexts(filters: unknown): unknown {
  if (!isRecord(filters) || !isRecord(filters.payloads)) return filters
  const present = Object.entries(filters.payloads).filter(([, payload]) => payload !== null)
  const texts = present.map(([key, payload]) => [key, typeof payload === 'string' ? payload : JSON.stringify(payload)])
  return { ...filters, payloads: Object.fromEntries(texts) }
}
