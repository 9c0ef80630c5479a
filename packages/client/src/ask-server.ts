import type { Outcome, ReasonCode, Subject } from '@halyard/engine'
import { isRecord } from './definitions.ts'
import type { Settings } from './options.ts'
import { startTimer } from './timers.ts'

/** Evaluates on the server what cannot be evaluated here: flags that depend on stored persons, and signed overrides. */
export interface ServerEvaluations {
  /**
   * The outcomes by flag key. A flag that the server could not evaluate is missing; with overrides that it does not accept, all are.
   * Never rejects.
   */
  ask(
    keys: readonly string[],
    subject: Subject,
    digest: string | undefined,
    overrides?: string,
  ): Promise<ReadonlyMap<string, Outcome>>
}

const cachedMax = 10_000
/** Stored properties can change without a change of the definitions. */
const cacheMilliseconds = 30_000
const pendingMax = 100
const refusedMax = 1_000
const overridesHeader = 'x-halyard-overrides'
const none: ReadonlyMap<string, Outcome> = new Map()

interface Cached {
  readonly until: number
  readonly outcomes: Promise<ReadonlyMap<string, Outcome>>
}

export function createServerEvaluations(
  settings: Settings,
  projectToken: () => string | undefined,
  now: () => number = Date.now,
): ServerEvaluations {
  const cached = new Map<string, Cached>()
  /** Overrides that the server has refused, and until when it is not asked again: anyone can send such text. */
  const refused = new Map<string, number>()
  let pending = 0

  async function request(
    keys: readonly string[],
    subject: Subject,
    overrides: string | undefined,
  ): Promise<ReadonlyMap<string, Outcome>> {
    const token = projectToken()
    if (token === undefined || pending >= pendingMax) return none
    const abort = new AbortController()
    const cancel = startTimer(() => abort.abort(), settings.requestTimeoutMilliseconds)
    pending += 1
    try {
      const response = await settings.fetch(`${settings.url}/flags/?v=2`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(overrides !== undefined && { [overridesHeader]: overrides }),
        },
        body: JSON.stringify(bodyOf(token, keys, subject)),
        signal: abort.signal,
      })
      const text = await response.text()
      if (response.status !== 200) throw new Error(`POST /flags/ returned ${response.status}.`)
      if (overrides !== undefined && response.headers.get(overridesHeader) !== 'applied') {
        putBounded(refused, overrides, now() + cacheMilliseconds, refusedMax)
        return none
      }
      return outcomesIn(JSON.parse(text))
    } catch (error) {
      settings.report(error)
      return none
    } finally {
      pending -= 1
      cancel()
    }
  }

  return {
    async ask(keys, subject, digest, overrides) {
      const name = textOf([digest, keys, subject, overrides])
      if (name === undefined) return none
      if (overrides !== undefined && (refused.get(overrides) ?? 0) > now()) return none
      const known = cached.get(name)
      if (known !== undefined && known.until > now()) return known.outcomes
      const outcomes = request(keys, subject, overrides)
      putBounded(cached, name, { until: now() + cacheMilliseconds, outcomes }, cachedMax)
      // A failure is not cached: the next evaluation asks again.
      void outcomes.then(found => {
        if (found.size === 0 && cached.get(name)?.outcomes === outcomes) cached.delete(name)
      })
      return outcomes
    },
  }
}

/** The oldest goes first. */
function putBounded<T>(map: Map<string, T>, name: string, value: T, sizeMax: number): void {
  map.delete(name)
  map.set(name, value)
  if (map.size > sizeMax) map.delete(map.keys().next().value!)
}

/** Undefined for what JSON cannot hold, such as a cycle. */
function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

const bodyOf = (token: string, keys: readonly string[], subject: Subject) => ({
  token,
  distinct_id: subject.distinctId,
  person_properties: subject.personProperties ?? {},
  groups: subject.groups ?? {},
  group_properties: subject.groupProperties ?? {},
  ...(subject.deviceId !== undefined && { $device_id: subject.deviceId }),
  ...(subject.anonDistinctId !== undefined && { $anon_distinct_id: subject.anonDistinctId }),
  flag_keys_to_evaluate: keys,
  evaluation_runtime: 'server',
})

function outcomesIn(body: unknown): ReadonlyMap<string, Outcome> {
  const flags = isRecord(body) && isRecord(body.flags) ? body.flags : {}
  return new Map(
    Object.entries(flags).flatMap(([key, flag]) => {
      const outcome = isRecord(flag) ? outcomeOf(flag) : undefined
      return outcome === undefined ? [] : [[key, outcome] as const]
    }),
  )
}

function outcomeOf({ enabled, variant, reason, metadata, failed }: Record<string, unknown>): Outcome | undefined {
  if (typeof enabled !== 'boolean' || !isRecord(reason)) return undefined
  const { code, condition_index: index, description } = reason
  const named = typeof variant === 'string' ? variant : null
  const payload = isRecord(metadata) && typeof metadata.payload === 'string' ? metadata.payload : null
  return {
    enabled,
    variant: named,
    value: named ?? enabled,
    payload,
    reason: {
      code: code as ReasonCode,
      conditionIndex: typeof index === 'number' ? index : null,
      description: String(description),
    },
    failed: failed === true,
  }
}
