import type { Definitions, FlagDefinition, Issue } from '@halyard/engine'
import { isProblem } from '../../api/problem.ts'
import type { Messages } from '../../i18n/en.ts'
import type { Filters, Property } from '../filters.ts'
import { valueKind } from './conditions/operator-kind.ts'
import { issuesOf } from './draft-definitions.ts'

export interface DraftProblem {
  readonly path: string
  readonly message: string
}

/** Translates an issue of the engine, which reports in English. */
export const translateIssue = (t: Messages, { code, path, message }: Issue): DraftProblem => ({
  path,
  message: t.issues[code] ?? message,
})

/** The issues that the engine finds, plus the server's rejection of the filters (`path: sentence`, or one that starts with a path). */
export function problemsOf(
  t: Messages,
  definition: FlagDefinition,
  definitions: Definitions,
  error: unknown,
): DraftProblem[] {
  const issues: DraftProblem[] = issuesOf(definition, definitions).map(issue => translateIssue(t, issue))
  if (!isProblem(error) || error.field !== 'filters') return issues
  const [, path = 'filters', message = error.message] = /^(filters[^\s:]*)(?:: (.*)| .*)$/s.exec(error.message) ?? []
  return issues.some(issue => issue.path === path) ? issues : [...issues, { path, message }]
}

/** Filters that were added and left empty. They evaluate to no match, which is rarely intended. */
export const unfilledOf = (t: Messages, { groups }: Filters): DraftProblem[] =>
  groups.flatMap(({ properties }, group) => unfilledAt(t, properties, `filters.groups[${group}].properties`))

export const unfilledAt = (t: Messages, properties: readonly Property[], path: string): DraftProblem[] =>
  properties.flatMap((property, index) => {
    const { field, message } = missingIn(t, property) ?? {}
    return message ? [{ path: `${path}[${index}].${field}`, message }] : []
  })

function missingIn(t: Messages, { type, key, operator, value }: Property) {
  if (type === 'cohort') return value === '' ? { field: 'value', message: t.editor.cohortMissing } : undefined
  if (type === 'flag') return key === '' ? { field: 'key', message: t.editor.flagMissing } : undefined
  if (key.trim() === '') return { field: 'key', message: t.editor.propertyMissing }
  return isUnfilled(operator, value) ? { field: 'value', message: t.editor.valueMissing } : undefined
}

/** The engine itself reports missing limits, dates and versions. */
const isUnfilled = (operator: string, value: unknown): boolean =>
  ['list', 'text', 'pattern', 'number'].includes(valueKind(operator)) &&
  (Array.isArray(value) ? value.length === 0 : value === '' || value === null || value === undefined)
