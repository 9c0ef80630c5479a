import { describe } from 'vitest'
import type { DialectName } from '../storage/migrations/migration.ts'
import { dialects } from './databases.ts'

/** What a scenario needs in its environment for each path that a request can take. */
export const paths = {
  'fast path': {},
  'ordinary path': { HALYARD_FAST_PATH: 'off' },
} as const satisfies Record<string, Record<string, string>>

type Environment = Readonly<Record<string, string>>

/** One suite, both paths. */
export function onEachPath(title: string, suite: (environment: Environment) => void): void {
  describe.each(Object.entries(paths))(`${title} on the %s`, (_name, environment) => suite(environment))
}

/** One suite, both databases, both paths. */
export function onEachDatabaseAndPath(
  title: string,
  suite: (dialect: DialectName, environment: Environment) => void,
): void {
  const combinations = dialects.flatMap(dialect =>
    Object.entries(paths).map(([name, environment]) => [dialect, name, environment] as const),
  )
  describe.each(combinations)(`${title} on %s and the %s`, (dialect, _name, environment) => suite(dialect, environment))
}
