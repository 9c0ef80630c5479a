import type { Outcome, ReasonCode, Subject } from '@halyard/engine'
import { isRecord } from './definitions/definitions.ts'
import { networkCodeOf, RequestFailed, requestFailed } from './request-failed.ts'
import { noResponse, type Settings } from './settings.ts'
import { backoff, sleep, startTimer } from './timers.ts'

/** Outcomes, of all persons together. */
const cachedMax = 10_000
/** Stored properties can change without a change of the definitions. */
const cacheMilliseconds = 30_000
const inFlightMax = 50
const attemptsMax = 3
/** Requests that wait for one of those in flight; each ends after the time limit of a request. */
const queuedMax = 10_000
const refusedMax = 1_000
const overridesHeader = 'x-halyard-overrides'
const none: ReadonlyMap<string, Outcome> = new Map()

/** What the server has evaluated for one person, by flag key. */
interface Person {
  readonly until: number
  readonly outcomes: Map<string, Promise<Outcome | undefined>>
  /** The request that is queued for the person: further flags join it. */
  queued?: QueuedRequest | undefined
}

interface QueuedRequest {
  readonly person: Person
  readonly subject: Subject
  readonly overrides: string | undefined
  readonly keys: Set<string>
  readonly abort: AbortController
  readonly cancelTimeout: () => void
  readonly outcomes: Promise<ReadonlyMap<string, Outcome>>
  /** Without outcomes after a failure. */
  readonly finish: (outcomes: ReadonlyMap<string, Outcome>) => void
}

/**
 * Evaluates on the server what cannot be evaluated here: flags that depend on stored persons, and signed overrides. A burst waits in a
 * queue, with one request per person for all flags that were evaluated meanwhile.
 */
export class ServerEvaluations {
  readonly #settings: Settings
  readonly #projectToken: () => string | undefined
  readonly #persons = new Map<string, Person>()
  #cached = 0
  /** Overrides that the server has refused, and until when it is not asked again: anyone can send such text. */
  readonly #refused = new Map<string, number>()
  readonly #queue = new Set<QueuedRequest>()
  #inFlight = 0
  #isSendPlanned = false

  constructor(settings: Settings, projectToken: () => string | undefined) {
    this.#settings = settings
    this.#projectToken = projectToken
  }

  /**
   * The outcomes by flag key. A flag that the server could not evaluate is missing; with overrides that it does not accept, all are.
   * Never rejects.
   */
  async evaluate(
    keys: readonly string[],
    subject: Subject,
    digest: string | undefined,
    overrides?: string,
  ): Promise<ReadonlyMap<string, Outcome>> {
    const name = textOf([digest, subject, overrides])
    if (name === undefined || keys.length === 0) return none
    if (overrides !== undefined && (this.#refused.get(overrides) ?? 0) > Date.now()) return none
    const person = this.#personCalled(name)
    const missing = keys.filter(key => !person.outcomes.has(key))
    if (missing.length > 0) this.#request(name, person, missing, subject, overrides)
    const outcomes = await Promise.all(keys.map(async key => [key, await person.outcomes.get(key)] as const))
    return new Map(outcomes.filter((entry): entry is readonly [string, Outcome] => entry[1] !== undefined))
  }

  #personCalled(name: string): Person {
    const cached = this.#persons.get(name)
    if (cached !== undefined && cached.until > Date.now()) return cached
    this.#forget(name)
    const person: Person = { until: Date.now() + cacheMilliseconds, outcomes: new Map() }
    this.#persons.set(name, person)
    return person
  }

  #forget(name: string): void {
    this.#cached -= this.#persons.get(name)?.outcomes.size ?? 0
    this.#persons.delete(name)
  }

  #request(name: string, person: Person, keys: readonly string[], subject: Subject, overrides: string | undefined) {
    const request = person.queued ?? this.#enqueue(person, subject, overrides)
    for (const key of keys) {
      request.keys.add(key)
      const outcome = request.outcomes.then(outcomes => outcomes.get(key))
      person.outcomes.set(key, outcome)
    }
    this.#cached += keys.length
    for (const oldest of this.#persons.keys()) {
      if (this.#cached <= cachedMax || oldest === name) break
      this.#forget(oldest)
    }
    // A failure is not cached: the next evaluation requests it again.
    void request.outcomes.then(outcomes => {
      const failed = keys.filter(key => outcomes.size === 0 || outcomes.get(key)?.failed)
      for (const key of failed) person.outcomes.delete(key)
      if (this.#persons.get(name) !== person) return
      this.#cached -= failed.length
      if (person.outcomes.size === 0) this.#persons.delete(name)
    })
  }

  #enqueue(person: Person, subject: Subject, overrides: string | undefined): QueuedRequest {
    const abort = new AbortController()
    let finish: QueuedRequest['finish'] = () => {}
    const outcomes = new Promise<ReadonlyMap<string, Outcome>>(resolve => {
      finish = resolve
    })
    const timeOut = () => {
      abort.abort()
      if (this.#queue.has(request)) this.#fail(request, noResponse(this.#settings.url))
    }
    const cancelTimeout = startTimer(timeOut, this.#settings.requestTimeoutMilliseconds, { isAwaited: true })
    const request = { person, subject, overrides, keys: new Set<string>(), abort, cancelTimeout, outcomes, finish }
    if (this.#queue.size >= queuedMax) {
      this.#fail(request, new Error(`More than ${queuedMax} requests for evaluations are waiting for the server.`))
      return request
    }
    person.queued = request
    this.#queue.add(request)
    this.#planSend()
    return request
  }

  /** At the end of the tick, so that everything that the application evaluates together is one request. */
  #planSend(): void {
    if (this.#isSendPlanned) return
    this.#isSendPlanned = true
    startTimer(
      () => {
        this.#isSendPlanned = false
        this.#sendQueued()
      },
      0,
      { isAwaited: true },
    )
  }

  #sendQueued(): void {
    for (const request of this.#queue) {
      if (this.#inFlight >= inFlightMax) return
      this.#queue.delete(request)
      request.person.queued = undefined
      this.#inFlight += 1
      void this.#send(request).finally(() => {
        this.#inFlight -= 1
        this.#sendQueued()
      })
    }
  }

  /** A server that is overloaded, or closes an idle connection, gets the request again within its time limit. */
  async #send(request: QueuedRequest): Promise<void> {
    const { signal } = request.abort
    for (let attempt = 1; ; attempt++) {
      try {
        const outcomes = await this.#post(request)
        request.cancelTimeout()
        return request.finish(outcomes)
      } catch (error) {
        const wait = attempt < attemptsMax ? retryMilliseconds(error, attempt) : undefined
        if (wait === undefined || signal.aborted) return this.#fail(request, error)
        await sleep(wait, signal)
      }
    }
  }

  async #post({ subject, overrides, keys, abort }: QueuedRequest): Promise<ReadonlyMap<string, Outcome>> {
    const { url, fetch } = this.#settings
    const token = this.#projectToken()
    if (token === undefined) throw new Error('The project is unknown: pass `projectToken` to evaluate on the server.')
    const response = await fetch(`${url}/flags/?v=2`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(overrides !== undefined && { [overridesHeader]: overrides }),
      },
      body: JSON.stringify(bodyOf(token, [...keys], subject)),
      signal: abort.signal,
    })
    const text = await response.text()
    if (response.status !== 200) throw requestFailed(`POST ${url}/flags/`, response)
    const isRefused = overrides !== undefined && response.headers.get(overridesHeader) !== 'applied'
    if (isRefused) putBounded(this.#refused, overrides, Date.now() + cacheMilliseconds, refusedMax)
    const outcomes = isRefused ? none : outcomesIn(JSON.parse(text))
    const failed = [...outcomes].filter(([, outcome]) => outcome.failed).map(([key]) => key)
    if (failed.length > 0) this.#settings.report(new Error(`The server failed to evaluate ${failed.join(', ')}.`))
    return outcomes
  }

  #fail(request: QueuedRequest, error: unknown): void {
    this.#queue.delete(request)
    request.person.queued = undefined
    request.cancelTimeout()
    this.#settings.report(error)
    request.finish(none)
  }
}

const brokenConnection = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** Undefined for what would fail again, such as a server that is down. */
function retryMilliseconds(error: unknown, attempt: number): number | undefined {
  if (error instanceof RequestFailed) {
    return [429, 503].includes(error.status) ? (error.retryAfterMilliseconds ?? backoff(attempt)) : undefined
  }
  return brokenConnection.has(networkCodeOf(error) ?? '') ? backoff(0) : undefined
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
