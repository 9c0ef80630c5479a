import type { Definitions, FlagDefinition } from '@halyard/engine'
import { isProblem } from '../../api/problem.ts'
import { issuesOf } from './definitions.ts'

export interface DraftProblem {
  readonly path: string
  readonly message: string
}

/** What the engine finds here, and what the server said of the filters: `path: sentence`. */
export function problemsOf(definition: FlagDefinition, definitions: Definitions, error: unknown): DraftProblem[] {
  const found: DraftProblem[] = issuesOf(definition, definitions)
  if (!isProblem(error) || error.field !== 'filters') return found
  const [, path = 'filters', message = error.message] = /^(filters[^\s:]*): (.*)$/s.exec(error.message) ?? []
  return found.some(issue => issue.path === path) ? found : [...found, { path, message }]
}
