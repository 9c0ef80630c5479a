import type { Report } from './issue.ts'
import { isDeeperThan, isRecord, own } from './json.ts'
import { type ParsedProperty, parseProperty } from './parse-property.ts'

/** A cohort's tree: groups of groups, or groups of filters. */
export interface ParsedGroup {
  readonly kind: 'group'
  readonly every: boolean
  readonly members: readonly (ParsedGroup | ParsedProperty)[]
}

const treeDepthMax = 100

/** Reads `{properties: tree}` or the tree itself. An absent tree holds everybody. */
export function parseCohortFilters(filters: unknown, report: Report): ParsedGroup | undefined {
  if (isDeeperThan(filters, treeDepthMax)) {
    report('too_large', 'filters', 'The filters are nested too deeply.')
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
    report('wrong_type', path, 'A group of filters must be an object with type and values.')
    return undefined
  }
  const type = own(value, 'type')
  const values = own(value, 'values') ?? []
  if (!Array.isArray(values)) {
    report('wrong_type', `${path}.values`, 'The values of a group must be a list.')
    return undefined
  }
  if (values.length > 0 && type !== 'AND' && type !== 'OR') {
    report('invalid_value', `${path}.type`, 'The type of a group is AND or OR.')
  }
  const members = parseMembers(values, path, report)
  return members && { kind: 'group', every: type === 'AND', members }
}

function isGroup(value: unknown): boolean {
  return isRecord(value) && Object.hasOwn(value, 'values')
}

/**
 * The client libraries take the first member's word for what all members are. A filter among groups counts as an empty
 * group; a group among filters cannot be evaluated by them.
 */
function parseMembers(values: readonly unknown[], path: string, report: Report): ParsedGroup['members'] | undefined {
  const ofGroups = isGroup(values[0])
  const members = values.map((value, index) => {
    const memberPath = `${path}.values[${index}]`
    if (isGroup(value) !== ofGroups) {
      report('mixed_cohort_group', memberPath, 'A group holds either groups or properties, never both.')
    }
    return ofGroups || isGroup(value) ? parseGroup(value, memberPath, report) : parseProperty(value, memberPath, report)
  })
  return members.every(member => member !== undefined) ? members : undefined
}
