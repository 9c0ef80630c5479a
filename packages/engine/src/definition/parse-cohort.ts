import type { Report } from './issue.ts'
import { isDeeperThan, isRecord, own } from './json.ts'
import { parseBehavior } from './parse-behavior.ts'
import { type ParsedProperty, parseProperty } from './parse-property.ts'

/** A cohort's tree: groups of groups, or groups of filters. */
export interface ParsedGroup {
  readonly kind: 'group'
  readonly every: boolean
  readonly members: readonly (ParsedGroup | ParsedProperty)[]
}

const treeDepthMax = 100

/** Parses `{properties: tree}` or the tree itself. An absent tree matches every person. */
export function parseCohortFilters(filters: unknown, report: Report): ParsedGroup | undefined {
  if (isDeeperThan(filters, treeDepthMax)) {
    report('too_large', 'filters', '`filters` is nested too deeply; the limit is 100 levels.')
    return undefined
  }
  if (isRecord(filters) && Object.hasOwn(filters, 'properties')) {
    return parseGroup(own(filters, 'properties'), 'filters.properties', report)
  }
  return parseGroup(filters, 'filters', report)
}

function parseGroup(value: unknown, path: string, report: Report): ParsedGroup | undefined {
  if (value === null || value === undefined) return { kind: 'group', every: true, members: [] }
  if (!isRecord(value)) {
    report('wrong_type', path, 'A filter group must be an object with `type` and `values`.')
    return undefined
  }
  const type = own(value, 'type')
  const values = own(value, 'values') ?? []
  if (!Array.isArray(values)) {
    report('wrong_type', `${path}.values`, '`values` must be an array.')
    return undefined
  }
  if (values.length > 0 && type !== 'AND' && type !== 'OR') {
    report('invalid_value', `${path}.type`, '`type` must be AND or OR.')
  }
  const members = parseMembers(values, path, report)
  return members && { kind: 'group', every: type === 'AND', members }
}

function isGroup(value: unknown): boolean {
  return isRecord(value) && Object.hasOwn(value, 'values')
}

/**
 * PostHog SDKs infer the type of all members from the first. They read a filter among groups as an empty group, and
 * cannot evaluate a group among filters.
 */
function parseMembers(values: readonly unknown[], path: string, report: Report): ParsedGroup['members'] | undefined {
  const ofGroups = isGroup(values[0])
  const members = values.map((value, index) => {
    const memberPath = `${path}.values[${index}]`
    if (isGroup(value) !== ofGroups) {
      report('mixed_cohort_group', memberPath, 'A group must contain either groups or properties, not both.')
    }
    return ofGroups || isGroup(value) ? parseGroup(value, memberPath, report) : parseFilter(value, memberPath, report)
  })
  return members.every(member => member !== undefined) ? members : undefined
}

const parseFilter = (value: unknown, path: string, report: Report): ParsedProperty | undefined =>
  isRecord(value) && own(value, 'type') === 'behavioral'
    ? parseBehavior(value, path, report)
    : parseProperty(value, path, report)
