import { PostHog } from 'posthog-node'
import { RE2JS } from 're2js'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { compile, type Definitions, type Snapshot, type Subject } from './index.ts'
import { definitionsWire } from './testing/definitions-wire.ts'
import { randomFrom } from './testing/random.ts'
import { randomDefinitions, randomSubject } from './testing/random-project.ts'

/**
 * posthog-node evaluates the same flags for the same persons. Wherever it evaluates locally, the engine must agree.
 * DIFFERENTIAL_RUNS and DIFFERENTIAL_SEED extend and repeat the test.
 */
const runs = Number(process.env.DIFFERENTIAL_RUNS ?? 20)
const firstSeed = Number(process.env.DIFFERENTIAL_SEED ?? 1)
const flagsPerRun = 40
const subjectsPerRun = 40

/** The 31st, because months overflow. */
const now = Date.parse('2024-07-31T12:34:56.789Z')

const options = {
  regex: (pattern: string) => {
    const compiled = RE2JS.compile(pattern)
    return { size: compiled.programSize(), test: (text: string) => compiled.matcher(text).find() }
  },
}

beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'], now })
  vi.spyOn(console, 'warn').mockImplementation(() => {})
})

afterAll(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

async function withLibrary(
  definitions: Definitions,
  snapshot: Snapshot,
  use: (library: PostHog) => Promise<void>,
): Promise<void> {
  const body = JSON.stringify(definitionsWire(definitions, snapshot))
  const library = new PostHog('phc_test', {
    host: 'http://127.0.0.1:9',
    personalApiKey: 'phx_test',
    featureFlagsPollingInterval: 1_000_000,
    fetch: async () => new Response(body, { status: 200 }),
  })
  try {
    await library.waitForLocalEvaluationReady()
    await use(library)
  } finally {
    await library.shutdown()
  }
}

interface Tally {
  answered: number
  on: number
  declined: number
}

async function compare(library: PostHog, snapshot: Snapshot, subject: Subject, tally: Tally): Promise<void> {
  const local = await library.getAllFlagsAndPayloads(subject.distinctId, {
    onlyEvaluateLocally: true,
    personProperties: subject.personProperties as Record<string, string>,
    groups: subject.groups as Record<string, string>,
    groupProperties: subject.groupProperties as Record<string, Record<string, string>>,
  })
  const results = snapshot.evaluate(subject, { now })
  for (const [flag, outcome] of results) {
    const expected = local.featureFlags?.[flag.key]
    if (expected === undefined) {
      tally.declined++
      continue
    }
    tally.answered++
    if (expected !== false) tally.on++
    const payload = readPayload(outcome.payload) || undefined
    const seen = { value: outcome.value, payload }
    const wanted = { value: expected, payload: local.featureFlagPayloads?.[flag.key] }
    if (JSON.stringify(seen) !== JSON.stringify(wanted)) {
      throw new Error(`they differ: ${JSON.stringify({ seen, wanted, flag: flag.definition, subject })}`)
    }
  }
}

function readPayload(text: string | null): unknown {
  if (text === null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

describe('posthog-node 5.67.0 and the engine', () => {
  it(`agree over ${runs} random projects from seed ${firstSeed}`, { timeout: 3_600_000 }, async () => {
    const tally: Tally = { answered: 0, on: 0, declined: 0 }
    for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
      const random = randomFrom(seed)
      const definitions = randomDefinitions(random, flagsPerRun)
      const snapshot = compile(definitions, options)
      await withLibrary(definitions, snapshot, async library => {
        for (let count = 0; count < subjectsPerRun; count++) {
          await compare(library, snapshot, randomSubject(random), tally).catch(error => {
            error.message = `seed ${seed}: ${error.message}`
            throw error
          })
        }
      })
    }
    console.info(`compared ${tally.answered} answers, ${tally.on} of them on; ${tally.declined} were declined`)
    expect(tally.answered).toBeGreaterThan(runs * 100)
    expect(tally.on).toBeGreaterThan(runs * 50)
  })
})
