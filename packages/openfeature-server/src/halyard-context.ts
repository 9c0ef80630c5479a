import type { EvaluationContext as HalyardContext } from '@halyard/client'
import type { EvaluationContext } from '@openfeature/server-sdk'

/**
 * As OFREP reads it: the targeting key is the distinct id; `groups`, `groupProperties`, `$device_id` and `$anon_distinct_id` have their
 * own meaning; everything else is a property of the person. `$halyard_overrides` stands for the header of a request. Undefined without a
 * targeting key.
 */
export function halyardContext(context: EvaluationContext): HalyardContext | undefined {
  const { targetingKey, groups, groupProperties, $halyard_overrides, ...rest } = plain(context) as Record<
    string,
    unknown
  >
  const distinctId = typeof targetingKey === 'number' ? String(targetingKey) : targetingKey
  if (typeof distinctId !== 'string' || distinctId === '') return undefined
  return {
    distinctId,
    personProperties: rest,
    groups: groupKeys(groups),
    groupProperties: (isRecord(groupProperties) ? groupProperties : {}) as Record<string, Record<string, unknown>>,
    ...(isText(rest.$device_id) && { deviceId: rest.$device_id }),
    ...(isText($halyard_overrides) && { overrides: $halyard_overrides }),
    ...(isText(rest.$anon_distinct_id) && { anonDistinctId: rest.$anon_distinct_id }),
  }
}

/** What JSON would make of it: dates become text, and undefined is absent. */
function plain(value: unknown, depth = 0): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (typeof value !== 'object' || value === null || depth > 100) return value
  if (Array.isArray(value)) return value.map(item => plain(item, depth + 1))
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(entries.map(([key, inner]) => [key, plain(inner, depth + 1)]))
}

function groupKeys(value: unknown): Record<string, string | number> {
  if (!isRecord(value)) return {}
  const keys = Object.entries(value).filter(([, key]) => typeof key === 'string' || typeof key === 'number')
  return Object.fromEntries(keys) as Record<string, string | number>
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
