import { afterAll, beforeAll } from 'vitest'
import type { DialectName } from '../storage/migrations/migration.ts'
import { type Scenario, type ScenarioOptions, startScenario } from './scenario.ts'

/** The server of the enclosing suite: started before the tests and hooks that follow, closed after all of them. */
export function suiteScenario(dialect: DialectName, options?: ScenarioOptions): Scenario {
  let started: Scenario
  beforeAll(async () => {
    started = await startScenario(dialect, options)
  })
  afterAll(() => started.close())
  return new Proxy({} as Scenario, { get: (_, name) => started[name as keyof Scenario] })
}
