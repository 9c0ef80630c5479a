import type { Definitions, FlagDefinition, Issue } from '@halyard/engine'
import { isProblem } from '../../api/problem.ts'
import type { Messages } from '../../messages/en.ts'
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
