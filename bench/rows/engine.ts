import { compile } from '@halyard/engine'
import { RE2JS } from 're2js'
import { floorHash } from '../floor-hash.ts'
import { type Figure, interleave, median, ratios, spreadOf } from '../measure.ts'
import { mixedDefinitions, people } from '../mix.ts'
import { peerEngines } from '../peer-engines.ts'
import type { Kit, Row } from '../row.ts'

/**
 * The engine alone, against the cost of the SHA-1 hashes that PostHog's way of bucketing asks for, and against the engines of
 * others. BENCH_CLOCK=wall counts the time on the wall instead of what this process had.
 */
const options = {
  regex: (pattern: string) => {
    const compiled = RE2JS.compile(pattern)
    return { test: (text: string) => compiled.matcher(text).find() }
  },
}
const now = Date.parse('2024-06-15T12:00:00Z')
const subjects = people(1000)

let sink = 0

/** Nanoseconds that this process has had, so that neighbours on the machine do not count. */
function clock(): number {
  if (process.env.BENCH_CLOCK === 'wall') return Number(process.hrtime.bigint())
  const { user, system } = process.cpuUsage()
  return (user + system) * 1000
}

/** Does something a number of times, and says how many. */
type Work = () => number | Promise<number>

/** Nanoseconds of one call, by contestant and turn. */
function measure(contestants: Readonly<Record<string, Work>>, turns: number): Promise<Record<string, number[]>> {
  const timed = Object.entries(contestants).map(([name, work]) => {
    const run = async () => {
      const start = clock()
      const calls = await work()
      return (clock() - start) / calls
    }
    return [name, run] as const
  })
  return interleave(Object.fromEntries(timed), turns, Math.min(turns, 5))
}

function evaluation(flagCount: number) {
  const definitions = mixedDefinitions(flagCount)
  const snapshot = compile(definitions, options)
  const keys = definitions.flags.map(flag => flag.key)
  // What a plain evaluator hashes: every rollout, and the variant of every flag that has variants.
  const texts = definitions.flags.flatMap(({ key }, index) => [
    ...(index % 10 < 4 || index % 10 >= 7 ? [[key, '']] : []),
    ...(index % 10 >= 4 && index % 10 < 7 ? [[key, 'variant']] : []),
  ])
  return {
    floor: () => {
      const some = subjects.slice(0, 100)
      for (const { distinctId } of some)
        for (const [key, salt] of texts) sink += floorHash(`${key}.${distinctId}${salt}`)
      return some.length
    },
    all: () => {
      for (const subject of subjects) {
        const results = snapshot.evaluate(subject, { now })
        for (let index = 0; index < flagCount; index++) {
          const outcome = results.outcome(index)!
          if (outcome.enabled && outcome.payload !== null) sink += outcome.reason.code.length
        }
      }
      return subjects.length
    },
    one: () => {
      for (const [index, subject] of subjects.entries()) {
        const key = keys[index % keys.length]!
        const outcome = snapshot.evaluate(subject, { now, keys: [key] }).get(key)!
        if (outcome.enabled) sink++
      }
      return subjects.length
    },
  }
}

function compilation() {
  const definitions = mixedDefinitions(1000)
  const text = JSON.stringify(definitions)
  let snapshot = compile(definitions, options)
  let round = 0
  return {
    load: () => {
      sink += compile(JSON.parse(text), options).flags.length
      return 1
    },
    update: () => {
      for (let count = 0; count < 10; count++) {
        const flag = definitions.flags[round++ % 1000]!
        snapshot = snapshot.update({ flags: [{ ...flag, version: round }] })
        sink += snapshot.evaluate(subjects[0]!, { now, keys: [flag.key] }).get(flag.key)!.enabled ? 1 : 0
      }
      return 10
    },
  }
}

function heapPerFlag(): number {
  const collect = globalThis.gc
  if (collect === undefined) return Number.NaN
  const count = 10_000
  const text = JSON.stringify(mixedDefinitions(count))
  for (let round = 0; round < 4; round++) collect()
  const before = process.memoryUsage().heapUsed
  const snapshot = compile(JSON.parse(text), options)
  for (let round = 0; round < 4; round++) collect()
  const bytes = process.memoryUsage().heapUsed - before
  sink += snapshot.flags.length + text.length
  return bytes / count
}

const micro = (values: readonly number[]) => median(values) / 1000

/** All flags with value, payload and reason; one flag; and the peers in the same turns, where they are asked for. */
async function evaluationFigures({ size, installations, peers, say }: Kit, flagCount: number): Promise<Figure[]> {
  const rivals = flagCount === 100 ? await peerEngines({ installations, peers, say }, flagCount, subjects) : {}
  const { close, ...engines } = rivals
  const times = await measure({ ...evaluation(flagCount), ...engines } as Record<string, Work>, size.engineTurns)
  await close?.()
  const share = ratios(times.all!, times.floor!)
  say(`  ${flagCount} flags: all ${micro(times.all!).toFixed(1)} µs; the floor ${micro(times.floor!).toFixed(1)} µs`)
  const one = times.one!.map(value => value / 1000)
  const figures: Figure[] = [
    {
      measure: `engine, all of ${flagCount} flags ÷ JS SHA-1 floor`,
      value: median(share),
      unit: '×',
      spread: spreadOf(share),
      ...(flagCount === 100 && { atMost: 0.75, alarm: 2 }),
    },
    {
      measure: `engine, one flag of ${flagCount}`,
      value: median(one),
      unit: 'µs',
      spread: spreadOf(one),
      ...(flagCount === 100 && { atMost: 1.2 }),
    },
  ]
  for (const [name, atLeast] of Object.entries(rivalBars)) {
    if (!times[name]) continue
    const faster = ratios(times[name], times.all!)
    const measured = { value: median(faster), unit: '×', spread: spreadOf(faster), atLeast }
    figures.push({ measure: `engine, all of ${flagCount} flags, faster than ${name}`, ...measured })
  }
  return figures
}

const rivalBars: Readonly<Record<string, number>> = { 'posthog-node': 60 }

export const engine: Row = async kit => {
  const figures: Figure[] = []
  for (const flagCount of kit.size.flagCounts) figures.push(...(await evaluationFigures(kit, flagCount)))
  const compiled = await measure(compilation(), kit.size.engineTurns)
  const load = compiled.load!.map(value => value / 1e6)
  const update = compiled.update!.map(value => value / 1e6)
  figures.push(
    { measure: 'load 1,000 flags', value: median(load), unit: 'ms', spread: spreadOf(load), atMost: 20, alarm: 200 },
    { measure: 'recompile after one change', value: median(update), unit: 'ms', spread: spreadOf(update), atMost: 0.2 },
  )
  const heap = heapPerFlag() / 1024
  if (!Number.isNaN(heap)) {
    figures.push({ measure: 'heap per flag, its definition included', value: heap, unit: 'KB', atMost: 2.5, alarm: 8 })
  }
  return sink === 0 ? [] : figures
}
