import { isRecord, own } from './json.ts'

/**
 * Whether PostHog SDKs cannot evaluate such filters: early access, other bucketing, splits, or metadata of persons. The server marks these
 * flags with experience continuity, for which every SDK asks the server.
 */
export function isServerOnly(filters: unknown): boolean {
  if (!isRecord(filters)) return false
  const groups = own(filters, 'groups')
  const superGroups = own(filters, 'super_groups')
  return (
    own(filters, 'feature_enrollment') === true ||
    (Array.isArray(superGroups) && superGroups.length > 0) ||
    isPresent(own(filters, 'bucketing')) ||
    (Array.isArray(groups) &&
      groups.some(group => isRecord(group) && (hasCustomBucketing(group) || readsMetadata(group))))
  )
}

const hasCustomBucketing = (group: Readonly<Record<string, unknown>>): boolean =>
  isPresent(own(group, 'bucketing')) || isPresent(own(group, 'split'))

function readsMetadata(group: Readonly<Record<string, unknown>>): boolean {
  const properties = own(group, 'properties')
  return Array.isArray(properties) && properties.some(one => isRecord(one) && own(one, 'type') === 'person_metadata')
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null
