import { type CompiledFlag, type Outcome, parsePayload, type Subject } from '@halyard/engine'
import { createServerEvaluations } from './ask-server.ts'
import { readDocument } from './definitions.ts'
import {
  type Evaluation,
  type EvaluationContext,
  evaluationOf,
  overridesOf,
  subjectOf,
  withoutValue,
} from './evaluation.ts'
import { createEventQueue } from './event-queue.ts'
import { changedKeys, changedState, documentOf, type FlagState, needsStoredPerson, stateOf } from './flag-state.ts'
import { follow } from './follow.ts'
import { type ClientOptions, type FetchResponse, settingsOf } from './options.ts'
import { startTimer } from './timers.ts'

/**
 * `starting`: no definitions yet. `cached`: definitions of the bootstrap or the cache. `ready`: in contact with the server. `stale`: no
 * contact for a while; evaluation goes on. `refused`: the server does not accept the key. `closed`: after `close()`.
 */
export type ClientStatus = 'starting' | 'cached' | 'ready' | 'stale' | 'refused' | 'closed'

export interface ClientEvents {
  /** The keys of flags whose values may have changed. */
  readonly change: (keys: readonly string[]) => void
  readonly status: (status: ClientStatus) => void
}

/** Follows the definitions of a project and evaluates them in process. No method throws or rejects. */
export interface HalyardClient {
  readonly status: ClientStatus
  /** The id of the project; undefined before the first definitions. */
  readonly projectId: number | undefined
  /** Resolves with true as soon as there are definitions, or with false after the time. Default: 10,000 milliseconds. */
  ready(options?: { readonly timeoutMilliseconds?: number }): Promise<boolean>
  /** Evaluates in process, and on the server only what depends on stored persons (see `storedPersons`). */
  evaluate(key: string, context: EvaluationContext): Promise<Evaluation>
  /** Evaluates in process only, without overrides. What depends on stored persons has the reason `needs_person`. */
  evaluateLocally(key: string, context: EvaluationContext): Evaluation
  evaluateAll(context: EvaluationContext): Promise<readonly Evaluation[]>
  /** All payloads that the flag can have, parsed; undefined when there is no such flag. */
  payloadsOf(key: string): readonly unknown[] | undefined
  /** Sends an event of the person, in the background. */
  track(event: string, context: EvaluationContext, properties?: Readonly<Record<string, unknown>>): void
  /** Returns a function that removes the listener. */
  on<Name extends keyof ClientEvents>(name: Name, listener: ClientEvents[Name]): () => void
  /** The newest definitions as JSON text, for the bootstrap of another process. */
  definitions(): string | undefined
  /** Sends queued events. */
  flush(): Promise<void>
  /** Stops following, sends queued events and lets the process exit. */
  close(): Promise<void>
}

const exposuresRememberedMax = 50_000
const exposureWindowMilliseconds = 24 * 60 * 60_000
const cacheWriteMilliseconds = 1_000
/** The `Date` header has a resolution of one second. */
const clockSkewMillisecondsMin = 2_000

export function createClient(options: ClientOptions): HalyardClient {
  const settings = settingsOf(options)
  const { updates = 'stream', storedPersons = 'ask', exposures = true, cache } = options
  const listeners: { [Name in keyof ClientEvents]: Set<ClientEvents[Name]> } = { change: new Set(), status: new Set() }
  let state: FlagState | undefined
  let status: ClientStatus = 'starting'
  let projectToken = options.projectToken
  let projectId: number | undefined
  let clockOffset = 0
  let cancelStale = () => {}
  const waiting = new Set<() => void>()

  const emit = <Name extends keyof ClientEvents>(name: Name, ...values: Parameters<ClientEvents[Name]>) => {
    for (const listener of listeners[name]) {
      try {
        ;(listener as (...given: unknown[]) => void)(...values)
      } catch (error) {
        settings.report(error)
      }
    }
  }
  const setStatus = (next: ClientStatus) => {
    if (status === next || status === 'closed') return
    status = next
    emit('status', next)
  }
  const watchForSilence = () => {
    cancelStale()
    cancelStale = startTimer(() => setStatus('stale'), settings.staleMilliseconds)
  }

  function swap(next: FlagState, isFromServer: boolean): void {
    const keys = changedKeys(state, next)
    state = next
    projectId = projectIdOf(next) ?? projectId
    if (!isFromServer) {
      setStatus('cached')
      watchForSilence()
    }
    for (const resolve of waiting) resolve()
    waiting.clear()
    if (keys.length > 0) emit('change', keys)
  }

  /** Invalid definitions are reported and leave what is in use. */
  function attempt(make: () => FlagState, isFromServer: boolean): boolean {
    try {
      swap(make(), isFromServer)
      return true
    } catch (error) {
      settings.report(error)
      return false
    }
  }

  const stored = createStoredDefinitions()
  function createStoredDefinitions() {
    let cancel: (() => void) | undefined
    let writing = Promise.resolve()
    const write = () => {
      cancel = undefined
      const text = state && JSON.stringify({ digest: state.digest, definitions: documentOf(state) })
      if (text !== undefined) writing = writing.then(() => cache?.write(text)).catch(settings.report)
    }
    return {
      async read() {
        try {
          const text = await cache?.read()
          // What the server has sent meanwhile is newer.
          if (text === undefined || (state !== undefined && status !== 'cached')) return
          const { digest, definitions } = JSON.parse(text) as { digest?: string; definitions: string }
          const document = readDocument(JSON.parse(definitions))
          if (document !== undefined) attempt(() => stateOf(document, digest), false)
        } catch (error) {
          settings.report(error)
        }
      },
      /** Changes in quick succession are written once. */
      schedule() {
        if (cache !== undefined) cancel ??= startTimer(write, cacheWriteMilliseconds)
      },
      async close() {
        if (cancel !== undefined) {
          cancel()
          write()
        }
        await writing
      },
    }
  }

  if (options.bootstrap !== undefined) {
    const document = readDocument(options.bootstrap)
    if (document === undefined) settings.report(new Error('The bootstrap has no flags.'))
    else attempt(() => stateOf(document, undefined), false)
  }

  const startFollowing = () =>
    updates === 'none'
      ? undefined
      : follow(settings, updates, {
          digest: () => state?.digest,
          onDocument(document, digest) {
            if (attempt(() => stateOf(document, digest), true)) stored.schedule()
          },
          onChange(change, digest) {
            const base = state
            if (base !== undefined && attempt(() => changedState(base, change, digest), true)) stored.schedule()
          },
          onContact() {
            if (state === undefined) return
            watchForSilence()
            setStatus('ready')
          },
          onResponse: readHeaders,
          onRefused: () => setStatus('refused'),
        })

  function readHeaders({ headers }: FetchResponse): void {
    projectToken = headers.get('x-halyard-project-token') ?? projectToken
    const offset = Date.parse(headers.get('date') ?? '') - Date.now()
    clockOffset = Math.abs(offset) >= clockSkewMillisecondsMin ? offset : 0
  }

  const events = createEventQueue(settings, () => projectToken)
  const server = createServerEvaluations(settings, () => projectToken)
  // Following waits for the cache, so that the server sends only what has changed since.
  const following = (cache === undefined ? Promise.resolve() : stored.read()).then(startFollowing)

  let exposed = new Set<string>()
  let exposedSince = Date.now()
  function expose(evaluation: Evaluation, subject: Subject): void {
    const { key, value, flagId } = evaluation
    if (!exposures || flagId === undefined || value === undefined) return
    const now = Date.now()
    if (exposed.size >= exposuresRememberedMax || now - exposedSince > exposureWindowMilliseconds) {
      exposed = new Set()
      exposedSince = now
    }
    const name = `${subject.distinctId}\0${key}\0${value}`
    if (exposed.has(name)) return
    exposed.add(name)
    const { reason, version, source } = evaluation
    events.add({
      event: '$feature_flag_called',
      distinct_id: subject.distinctId,
      properties: {
        $feature_flag: key,
        $feature_flag_response: value,
        $feature_flag_id: flagId,
        ...(version !== undefined && { $feature_flag_version: version }),
        $feature_flag_reason: reason.description,
        locally_evaluated: source === 'local',
        $lib: 'halyard-client',
        ...(subject.groups && Object.keys(subject.groups).length > 0 && { $groups: subject.groups }),
      },
    })
  }

  const flagOf = (at: FlagState, key: string): CompiledFlag | undefined => {
    const index = at.snapshot.indexOf(key)
    const flag = index === undefined ? undefined : at.snapshot.flags[index]
    return flag !== undefined && at.flags.get(flag.id)?.isForServers ? flag : undefined
  }
  const localOutcome = (at: FlagState, key: string, subject: Subject): Outcome | undefined =>
    at.snapshot.evaluate(subject, { keys: [key], now: Date.now() + clockOffset }).get(key)

  /** Either the evaluation, or the flag whose value only the server knows. */
  function evaluateAt(
    at: FlagState,
    key: string,
    subject: Subject,
  ): { readonly evaluation: Evaluation } | { readonly unresolved: CompiledFlag } {
    const flag = flagOf(at, key)
    if (flag === undefined) return { evaluation: withoutValue(key, 'flag_not_found') }
    if (needsStoredPerson(at, key, subject)) return { unresolved: flag }
    return { evaluation: evaluationOf(flag, localOutcome(at, key, subject)!, 'local') }
  }

  const resolve = (flag: CompiledFlag, outcome: Outcome | undefined): Evaluation =>
    outcome === undefined ? withoutValue(flag.key, 'needs_person', flag) : evaluationOf(flag, outcome, 'server')

  /** Nothing that is given from outside may throw. */
  function guarded(key: string, context: EvaluationContext, work: (at: FlagState, subject: Subject) => Evaluation) {
    try {
      const subject = subjectOf(context)
      if (subject === undefined) return withoutValue(key, 'targeting_key_missing')
      return state === undefined ? withoutValue(key, 'not_ready') : work(state, subject)
    } catch (error) {
      settings.report(error)
      return withoutValue(key, 'needs_person')
    }
  }

  /** The evaluations that the server made with the overrides of the context; empty when it accepts none. */
  async function evaluateOverridden(
    at: FlagState,
    keys: readonly string[],
    subject: Subject,
    overrides: string,
  ): Promise<ReadonlyMap<string, Evaluation>> {
    const outcomes = await server.ask(keys, subject, at.digest, overrides)
    return new Map(
      keys.flatMap(key => {
        const [flag, outcome] = [flagOf(at, key), outcomes.get(key)]
        return flag && outcome ? [[key, evaluationOf(flag, outcome, 'server')] as const] : []
      }),
    )
  }

  function evaluateLocally(key: string, context: EvaluationContext): Evaluation {
    return guarded(key, context, (at, subject) => {
      const result = evaluateAt(at, key, subject)
      if ('unresolved' in result) return withoutValue(key, 'needs_person', result.unresolved)
      expose(result.evaluation, subject)
      return result.evaluation
    })
  }

  return {
    get status() {
      return status
    },
    get projectId() {
      return projectId
    },
    async ready({ timeoutMilliseconds = 10_000 } = {}) {
      if (state !== undefined) return true
      return new Promise(done => {
        const finish = () => {
          cancel()
          waiting.delete(finish)
          done(state !== undefined)
        }
        const cancel = startTimer(finish, timeoutMilliseconds)
        waiting.add(finish)
      })
    },
    evaluateLocally,
    async evaluate(key, context) {
      const overrides = overridesOf(context)
      const at = state
      if (overrides !== undefined && at !== undefined) {
        const asked = subjectOf(context)
        const overridden = asked && (await evaluateOverridden(at, [key], asked, overrides)).get(key)
        // Not exposed: overridden values are not usage.
        if (overridden) return overridden
      }
      const local = evaluateLocally(key, context)
      if (local.reason.code !== 'needs_person' || storedPersons === 'local' || at === undefined) return local
      const subject = subjectOf(context)
      const flag = flagOf(at, key)
      if (subject === undefined || flag === undefined) return local
      const evaluation = resolve(flag, (await server.ask([key], subject, at.digest)).get(key))
      expose(evaluation, subject)
      return evaluation
    },
    async evaluateAll(context) {
      const subject = subjectOf(context)
      const at = state
      if (subject === undefined || at === undefined) return []
      const keys = at.snapshot.flags.flatMap(({ key }) => (flagOf(at, key) ? [key] : []))
      const overrides = overridesOf(context)
      const overridden = overrides === undefined ? undefined : await evaluateOverridden(at, keys, subject, overrides)
      const results = keys.map(key => {
        const evaluation = overridden?.get(key)
        return evaluation ? { evaluation } : evaluateAt(at, key, subject)
      })
      const unresolved = results.flatMap(result => ('unresolved' in result ? [result.unresolved.key] : []))
      const asked =
        unresolved.length === 0 || storedPersons === 'local'
          ? new Map<string, Outcome>()
          : await server.ask(unresolved, subject, at.digest)
      return results.map(result =>
        'unresolved' in result ? resolve(result.unresolved, asked.get(result.unresolved.key)) : result.evaluation,
      )
    },
    payloadsOf(key) {
      const flag = state && flagOf(state, key)
      if (flag === undefined) return undefined
      const payloads = new Set(flag.outcomes.flatMap(({ payload }) => (payload === null ? [] : [payload])))
      return Array.from(payloads, parsePayload)
    },
    track(event, context, properties = {}) {
      const subject = subjectOf(context)
      if (subject === undefined) return
      const groups = subject.groups && Object.keys(subject.groups).length > 0 && { $groups: subject.groups }
      events.add({ event, distinct_id: subject.distinctId, properties: { ...properties, ...groups } })
    },
    on(name, listener) {
      listeners[name].add(listener)
      return () => listeners[name].delete(listener)
    },
    definitions: () => state && documentOf(state),
    flush: () => events.flush(),
    async close() {
      if (status === 'closed') return
      setStatus('closed')
      cancelStale()
      for (const resolve of waiting) resolve()
      waiting.clear()
      await (await following)?.close()
      await Promise.all([events.close(), stored.close()])
    },
  }
}

/** The wire names the project in each flag. */
function projectIdOf({ flags }: FlagState): number | undefined {
  const [first] = flags.values()
  if (first === undefined) return undefined
  const { team_id: id } = JSON.parse(first.json) as { team_id?: unknown }
  return typeof id === 'number' ? id : undefined
}
