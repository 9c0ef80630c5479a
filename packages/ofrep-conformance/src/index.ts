import { type Check, checks } from './checks.ts'
import { type ConformanceOptions, serverUnderTest } from './server-under-test.ts'

export type { ConformanceOptions } from './server-under-test.ts'

export interface CheckResult {
  readonly id: string
  readonly title: string
  readonly source: string
  readonly level: Check['level']
  readonly outcome: 'passed' | 'failed' | 'not applicable'
  /** Why it failed or does not apply. */
  readonly detail?: string
}

/** Checks a server against OFREP 0.3, one request at a time. Never rejects: a server that cannot be reached fails the checks. */
export async function checkConformance(options: ConformanceOptions): Promise<readonly CheckResult[]> {
  const server = serverUnderTest(options)
  const results: CheckResult[] = []
  for (const { run, ...check } of checks) {
    try {
      const reason = await run(server)
      results.push(
        reason === undefined
          ? { ...check, outcome: 'passed' }
          : { ...check, outcome: 'not applicable', detail: reason },
      )
    } catch (error) {
      results.push({ ...check, outcome: 'failed', detail: error instanceof Error ? error.message : String(error) })
    }
  }
  return results
}

/** Whether every requirement that applies is met; recommendations do not count. */
export const isConformant = (results: readonly CheckResult[]): boolean =>
  results.every(({ level, outcome }) => level === 'should' || outcome !== 'failed')
