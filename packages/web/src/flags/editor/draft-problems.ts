import type { Definitions, FlagDefinition, Issue } from '@halyard/engine'
import { isProblem } from '../../api/problem.ts'
import type { Messages } from '../../messages/en.ts'
import type { Filters, Property } from '../filters.ts'
import { issuesOf } from './definitions.ts'

export interface DraftProblem {
  readonly path: string
  readonly message: string
}

/** The engine speaks English. */
export const inWords = (t: Messages, { code, path, message }: Issue): DraftProblem => ({
  path,
  message: t.issues[code] ?? message,
})

/** What the engine finds here, and what the server said of the filters: `path: sentence`. */
export function problemsOf(
  t: Messages,
  definition: FlagDefinition,
  definitions: Definitions,
  error: unknown,
): DraftProblem[] {
  const found: DraftProblem[] = issuesOf(definition, definitions).map(issue => inWords(t, issue))
  if (!isProblem(error) || error.field !== 'filters') return found
  const [, path = 'filters', message = error.message] = /^(filters[^\s:]*): (.*)$/s.exec(error.message) ?? []
  return found.some(issue => issue.path === path) ? found : [...found, { path, message }]
}

/** Filters that were begun and not filled in. They can be evaluated, and let nobody in: hardly what is wanted. */
export const unfilledOf = (t: Messages, { groups }: Filters): DraftProblem[] =>
  groups.flatMap(({ properties }, group) =>
    properties.flatMap((property, index) => {
      const message = missingIn(t, property)
      return message === undefined ? [] : [{ path: `filters.groups[${group}].properties[${index}]`, message }]
    }),
  )

function missingIn(t: Messages, { type, key, operator, value }: Property): string | undefined {
  if (type === 'cohort' || type === 'flag') return undefined
  if (key.trim() === '') return t.editor.propertyMissing
  return operator === 'exact' && Array.isArray(value) && value.length === 0 ? t.editor.valueMissing : undefined
}
