import { compile, type Definitions, type EngineOptions, type Subject } from '@halyard/engine'
import { RE2JS } from 're2js'
import { baselineHash } from '../baseline-hash.ts'
import { consume, type Engine, someSubjects } from './engine.ts'

const options: EngineOptions = {
  regex: pattern => {
    const compiled = RE2JS.compile(pattern)
    return { size: compiled.programSize(), test: text => compiled.matcher(text).find() }
  },
}
const now = Date.parse('2024-06-15T12:00:00Z')

/** Halyard's engine, and the baseline: the SHA-1 hashes that PostHog-compatible bucketing requires. */
export function halyardEngine(definitions: Definitions, subjects: readonly Subject[]): Engine {
  return { ...evaluation(definitions, subjects), ...compilation(definitions, subjects[0]!) }
}

function evaluation(definitions: Definitions, subjects: readonly Subject[]): Engine {
  const snapshot = compile(definitions, options)
  const keys = definitions.flags.map(flag => flag.key)
  // A naive evaluator hashes every rollout, and the variant of every flag that has variants.
  const texts = definitions.flags.map(({ key }, index) => [key, index % 10 >= 4 && index % 10 < 7 ? 'variant' : ''])
  const some = subjects.slice(0, someSubjects)
  return {
    baseline() {
      for (const { distinctId } of some) {
        for (const [key, salt] of texts) consume(baselineHash(`${key}.${distinctId}${salt}`))
      }
      return some.length
    },
    all() {
      for (const subject of subjects) {
        const results = snapshot.evaluate(subject, { now })
        for (let index = 0; index < keys.length; index++) {
          const outcome = results.outcome(index)!
          if (outcome.enabled && outcome.payload !== null) consume(outcome.reason.code.length)
        }
      }
      return subjects.length
    },
    one() {
      for (let index = 0; index < subjects.length; index++) {
        const key = keys[index % keys.length]!
        const outcome = snapshot.evaluate(subjects[index]!, { now, keys: [key] }).get(key)!
        if (outcome.enabled) consume(1)
      }
      return subjects.length
    },
  }
}

function compilation(definitions: Definitions, subject: Subject): Engine {
  const text = JSON.stringify(definitions)
  const { flags } = definitions
  let snapshot = compile(definitions, options)
  let round = 0
  return {
    load() {
      consume(compile(JSON.parse(text), options).flags.length)
      return 1
    },
    update() {
      for (let count = 0; count < 10; count++) {
        const flag = flags[round++ % flags.length]!
        snapshot = snapshot.update({ flags: [{ ...flag, version: round }] })
        consume(snapshot.evaluate(subject, { now, keys: [flag.key] }).get(flag.key)!.enabled ? 1 : 0)
      }
      return 10
    },
  }
}

/** Heap bytes per flag with its definition, in this process; NaN without `--expose-gc`. */
export function heapBytesPerFlag(definitions: Definitions): number {
  const collect = globalThis.gc
  if (collect === undefined) return Number.NaN
  const text = JSON.stringify(definitions)
  for (let round = 0; round < 4; round++) collect()
  const before = process.memoryUsage().heapUsed
  const snapshot = compile(JSON.parse(text), options)
  for (let round = 0; round < 4; round++) collect()
  const bytes = process.memoryUsage().heapUsed - before
  consume(snapshot.flags.length + text.length)
  return bytes / definitions.flags.length
}
