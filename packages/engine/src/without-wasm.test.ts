import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { randomFrom } from './testing/random.ts'
import { randomDefinitions, randomSubject } from './testing/random-project.ts'
import { trustedRegex } from './testing/regex.ts'

/** As in workerd, and in browsers whose Content-Security-Policy lacks `wasm-unsafe-eval`. */
class Forbidden {
  constructor() {
    throw new Error('Wasm code generation disallowed by embedder')
  }
}

const original = globalThis.WebAssembly as unknown as Record<'Module' | 'Instance', new () => object>
const now = Date.parse('2024-07-31T12:34:56.789Z')
const options = { regex: trustedRegex }

/** The kernel is opened once per module instance, so each runtime gets an instance of the engine. */
async function loadEngine(wasm: unknown): Promise<typeof import('./index.ts')> {
  vi.resetModules()
  vi.stubGlobal('WebAssembly', wasm)
  const engine = await import('./index.ts')
  const flags = Array.from({ length: 8 }, (_, id) => ({
    id,
    key: `flag-${id}`,
    active: true,
    filters: { groups: [{ rollout_percentage: 50 }] },
  }))
  const snapshot = engine.compile({ flags, cohorts: [], groupTypes: {}, propertyMatchingVersion: 2 }, options)
  snapshot.evaluate({ distinctId: 'a' }, { now })
  snapshot.evaluate({ distinctId: 'a' }, { now, keys: ['flag-0'] })
  vi.stubGlobal('WebAssembly', original)
  return engine
}

describe('without WebAssembly', () => {
  it('evaluates random projects as with WebAssembly', async () => {
    let opened = 0
    const Module = new Proxy(original.Module, {
      construct(target, values) {
        opened++
        return Reflect.construct(target, values)
      },
    })
    const withWasm = await loadEngine({ Module, Instance: original.Instance })
    expect(opened).toBe(1)
    const others = [await loadEngine(undefined), await loadEngine({ Module: Forbidden })]
    let compared = 0
    for (let seed = 1; seed <= 15; seed++) {
      const random = randomFrom(seed)
      const definitions = randomDefinitions(random, 40)
      const subjects = Array.from({ length: 20 }, () => randomSubject(random))
      const [expected, ...results] = [withWasm, ...others].map(({ compile }) => {
        const snapshot = compile(definitions, options)
        return subjects.map(subject =>
          Array.from(snapshot.evaluate(subject, { now }), ([{ key }, outcome]) => ({ key, outcome })),
        )
      })
      for (const result of results) expect(result).toEqual(expected)
      compared += expected!.flat().filter(({ outcome }) => outcome.enabled).length
    }
    expect(compared).toBeGreaterThan(1000)
  })
})

describe('without WebAssembly, the corpus', async () => {
  beforeAll(() => void vi.stubGlobal('WebAssembly', { Module: Forbidden }))
  afterAll(() => void vi.unstubAllGlobals())
  vi.resetModules()
  await import('./corpus.test.ts')
})
