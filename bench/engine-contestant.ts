import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Engine, EngineTurn } from './engines/engine.ts'
import { flagdEngine } from './engines/flagd-core.ts'
import { halyardEngine } from './engines/halyard.ts'
import { postHogEngine } from './engines/posthog-node.ts'
import { unleashEngine } from './engines/unleash-client.ts'
import { mixedDefinitions, people } from './mix.ts'

/**
 * One engine in its own process: `engine-contestant <name> <flags> <folder of the package>`. For each message with the name of a
 * workload it runs it briefly and reports the cost per call. BENCH_CLOCK=wall measures wall-clock time instead of CPU time.
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
const works = await makers[name]!()

/** CPU time of this process in nanoseconds, so that other processes do not count. */
function clock(): number {
  if (process.env.BENCH_CLOCK === 'wall') return Number(process.hrtime.bigint())
  const { user, system } = process.cpuUsage()
  return (user + system) * 1000
}

/** In a shorter round, cold CPU caches would dominate. */
const turnNanosecondsMin = 25e6

process.on('message', async (work: string) => {
  const begun = clock()
  let calls = 0
  let spent: number
  do {
    calls += await works[work]!()
    spent = clock() - begun
  } while (spent < turnNanosecondsMin)
  process.send?.({ nanoseconds: spent / calls } satisfies EngineTurn)
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
