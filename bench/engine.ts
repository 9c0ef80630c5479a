import { compile } from '@halyard/engine'
import { RE2JS } from 're2js'
import { floorHash } from './floor-hash.ts'
import { mixedDefinitions, people } from './mix.ts'

/**
 * The engine alone, against the cost of the SHA-1 hashes that PostHog's way of bucketing asks for. Contestants take
 * turns within one process, and the median of many turns is told, because machines are noisy: trust the ratios.
 *
 *     npx esbuild bench/engine.ts --bundle --platform=node --format=esm --conditions=halyard-source --outfile=bench.mjs
 *     node --expose-gc bench.mjs
 */
const options = {
  regex: (pattern: string) => {
    const compiled = RE2JS.compile(pattern)
    return { test: (text: string) => compiled.matcher(text).find() }
  },
}
const now = Date.parse('2024-06-15T12:00:00Z')
const turns = Number(process.env.BENCH_TURNS ?? 40)
const subjects = people(1000)

let sink = 0

/** Nanoseconds. On a crowded machine BENCH_CLOCK=cpu counts only the time that this process had. */
function clock(): number {
  if (process.env.BENCH_CLOCK !== 'cpu') return Number(process.hrtime.bigint())
  const { user, system } = process.cpuUsage()
  return (user + system) * 1000
}

/** The nanoseconds of one call, as the median over turns. */
function measure(contestants: Readonly<Record<string, () => number>>): Record<string, number> {
  const times = new Map<string, number[]>()
  for (let turn = 0; turn < turns + 5; turn++) {
    for (const [name, run] of Object.entries(contestants)) {
      const start = clock()
      const calls = run()
      const each = (clock() - start) / calls
      if (turn >= 5) times.set(name, [...(times.get(name) ?? []), each])
    }
  }
  return Object.fromEntries([...times].map(([name, values]) => [name, median(values)]))
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)]!
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
    'compile 1,000': () => {
      sink += compile(JSON.parse(text), options).flags.length
      return 1
    },
    'update one of 1,000': () => {
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

for (const flagCount of [10, 100, 1000]) {
  const { floor, all, one } = measure(evaluation(flagCount))
  console.log(
    `${flagCount} flags: all ${(all! / 1000).toFixed(1)} µs, ${(all! / floor!).toFixed(2)} of the floor (${(floor! / 1000).toFixed(1)} µs); one ${one!.toFixed(0)} ns`,
  )
}
for (const [name, nanoseconds] of Object.entries(measure(compilation()))) {
  console.log(`${name}: ${(nanoseconds / 1e6).toFixed(3)} ms`)
}
console.log(`heap: ${heapPerFlag().toFixed(0)} bytes a flag, its definition included`)
if (sink === 0) console.log('nothing was measured')
