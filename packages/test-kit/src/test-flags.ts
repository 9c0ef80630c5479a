import { createClient, type DefinitionsDocument, type EvaluationContext } from '@halyard/client'
import type { JsonValue } from '@openfeature/core'

/** Values by flag key: what the code gets, of whatever type. */
export type Values = Readonly<Record<string, JsonValue>>

export interface TestFlagsOptions {
  /** Values that are the same for everyone. */
  readonly values?: Values
  /** Definitions, as `GET /flags/definitions?send_cohorts` returns them: flags without a value are evaluated with these. */
  readonly definitions?: DefinitionsDocument
}

/** The flags of a test, in memory: no network, no timers. */
export interface TestFlags {
  /** Sets values on top of those that are set; `undefined` removes one. */
  set(values: Readonly<Record<string, JsonValue | undefined>>): void
  /** Back to the values of the beginning. */
  reset(): void
  /** The values that are set. */
  readonly values: Values
  /** Undefined when the flag has no value: the default in the code applies. */
  evaluate(key: string, context: EvaluationContext): Resolution
  /** Calls back with the keys whose values may have changed. Returns a function that stops it. */
  onChange(listener: (keys: readonly string[]) => void): () => void
}

export interface Resolution {
  readonly isKnown: boolean
  readonly value?: unknown
  readonly payload?: unknown
  readonly variant?: string
  readonly reason: string
}

export function createTestFlags({ values: initial = {}, definitions }: TestFlagsOptions = {}): TestFlags {
  const client =
    definitions &&
    createClient({
      url: 'http://test.invalid',
      key: 'phs_test',
      bootstrap: definitions,
      updates: 'none',
      exposures: false,
      storedPersons: 'local',
    })
  const listeners = new Set<(keys: readonly string[]) => void>()
  let values = new Map(Object.entries(initial))

  function replace(next: Map<string, JsonValue>): void {
    const changed = [...new Set([...values.keys(), ...next.keys()])].filter(key => values.get(key) !== next.get(key))
    values = next
    if (changed.length > 0) for (const listener of [...listeners]) listener(changed)
  }

  return {
    get values() {
      return Object.fromEntries(values)
    },
    set(sent) {
      const next = new Map(values)
      for (const [key, value] of Object.entries(sent)) {
        if (value === undefined) next.delete(key)
        else next.set(key, value)
      }
      replace(next)
    },
    reset: () => replace(new Map(Object.entries(initial))),
    evaluate(key, context) {
      if (values.has(key)) return { isKnown: true, value: values.get(key), reason: 'STATIC' }
      const evaluation = client?.evaluateLocally(key, context)
      if (evaluation === undefined || evaluation.reason.code === 'flag_not_found') return unknown
      const { openFeature, payload } = evaluation
      return { isKnown: true, ...openFeature, payload }
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

const unknown: Resolution = { isKnown: false, reason: 'ERROR' }

/** Runs the work with these values, and then restores the former ones, also when the work fails. */
export async function withFlags<T>(flags: TestFlags, values: Values, work: () => T | Promise<T>): Promise<T> {
  const before = flags.values
  flags.set(values)
  try {
    return await work()
  } finally {
    const added = Object.keys(values).filter(key => !Object.hasOwn(before, key))
    flags.set({ ...before, ...Object.fromEntries(added.map(key => [key, undefined])) })
  }
}
