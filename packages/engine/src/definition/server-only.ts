import { isRecord, own } from './json.ts'
import { isStrict } from './operator.ts'

/**
 * Whether PostHog SDKs cannot evaluate such filters: early access, other bucketing, splits, metadata of persons, or filters that only
 * Halyard has. The server marks these flags with experience continuity, for which every SDK asks the server.
 */
export function isServerOnly(filters: unknown): boolean {
  if (!isRecord(filters)) return false
  const groups = own(filters, 'groups')
  const superGroups = own(filters, 'super_groups')
  return (
    own(filters, 'feature_enrollment') === true ||
    (Array.isArray(superGroups) && superGroups.length > 0) ||
    isPresent(own(filters, 'bucketing')) ||
    (Array.isArray(groups) && groups.some(group => isRecord(group) && isOwnCondition(group)))
  )
}

const isOwnCondition = (group: Readonly<Record<string, unknown>>): boolean =>
  isPresent(own(group, 'bucketing')) ||
  isPresent(own(group, 'split')) ||
  own(group, 'value') === false ||
  listOf(own(group, 'properties')).some(isOwnFilter)

function isOwnFilter(property: unknown): boolean {
  if (!isRecord(property)) return false
  const operator = own(property, 'operator')
  return (
    own(property, 'inverted') === true ||
    own(property, 'type') === 'person_metadata' ||
    (typeof operator === 'string' && isStrict(operator))
  )
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const isPresent = (value: unknown): boolean => value !== undefined && value !== null
