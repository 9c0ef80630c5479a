import type { Operator } from '@halyard/engine'
import type { Messages } from '../../../i18n/en.ts'

type GroupName = keyof Messages['editor']['operatorGroups']

/** The usual operators first, then the others by the type of value. Each occurs once. */
export const operatorGroups: Readonly<Record<GroupName, readonly Operator[]>> = {
  usual: [
    'exact',
    'is_not',
    'icontains',
    'not_icontains',
    'starts_with',
    'regex',
    'gt',
    'lt',
    'is_date_after',
    'is_date_before',
    'is_set',
    'is_not_set',
  ],
  text: [
    'icontains_multi',
    'not_icontains_multi',
    'not_starts_with',
    'ends_with',
    'not_ends_with',
    'not_regex',
    'text_equals',
    'text_contains',
    'text_starts_with',
    'text_ends_with',
    'text_matches',
  ],
  number: [
    'gte',
    'lte',
    'between',
    'not_between',
    'number_eq',
    'number_gt',
    'number_gte',
    'number_lt',
    'number_lte',
    'number_modulo',
  ],
  date: ['is_date_exact', 'date_after', 'date_before', 'date_or_now_after', 'date_or_now_before'],
  version: [
    'semver_eq',
    'semver_neq',
    'semver_gt',
    'semver_gte',
    'semver_lt',
    'semver_lte',
    'semver_tilde',
    'semver_caret',
    'semver_wildcard',
    'version_eq',
    'version_gt',
    'version_gte',
    'version_lt',
    'version_lte',
  ],
  other: ['json_one_of', 'list_contains_any', 'list_contains_all', 'list_length', 'type_is', 'ip_in_cidr'],
}

/** The options of a select. */
export const operatorOptions = ({ operators: words, editor }: Messages) =>
  Object.entries(operatorGroups).map(([name, group]) => ({
    group: editor.operatorGroups[name as GroupName],
    items: group.map(value => ({ value, label: words[value] })),
  }))
