import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Engine, EngineRound } from './engines/engine.ts'
import { flagdEngine } from './engines/flagd-core.ts'
import { halyardEngine } from './engines/halyard.ts'
import { postHogEngine } from './engines/posthog-node.ts'
import { unleashEngine } from './engines/unleash-client.ts'
import { mixedDefinitions, people } from './mix.ts'

/**
 * Runs one engine in its own process: `engine-process <name> <flags> <folder of the package>`. Receives the name of a task, runs it for
 * one round and sends the cost per call. BENCH_CLOCK=wall measures wall-clock time instead of CPU time.
 */
const [name = '', flagCount = '100', folder = ''] = process.argv.slice(2)
const definitions = mixedDefinitions(Number(flagCount))
const subjects = people(1000)
const load = (id: string): unknown => createRequire(join(folder, 'package.json'))(id)

const makers: Readonly<Record<string, () => Engine | Promise<Engine>>> = {
  halyard: () => halyardEngine(definitions, subjects),
  'posthog-node': () => postHogEngine(load('posthog-node'), definitions, subjects),
  'flagd-core': () => flagdEngine(load('@openfeature/flagd-core'), definitions, subjects),
  'unleash-client': () => unleashEngine(load('unleash-client'), definitions, subjects),
}
const tasks = await makers[name]!()

/** CPU time of this process in nanoseconds, so that other processes on the machine do not count. */
function clock(): number {
  if (process.env.BENCH_CLOCK === 'wall') return Number(process.hrtime.bigint())
  const { user, system } = process.cpuUsage()
  return (user + system) * 1000
}

/** In a shorter round, cold CPU caches would dominate the measurement. */
const roundNanosecondsMin = 25e6

process.on('message', async (task: string) => {
  const startedAt = clock()
  let calls = 0
  let spent: number
  do {
    calls += await tasks[task]!()
    spent = clock() - startedAt
  } while (spent < roundNanosecondsMin)
  process.send?.({ nanoseconds: spent / calls } satisfies EngineRound)
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
