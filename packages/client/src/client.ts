import type { ClientEvents, ClientStatus } from './client-events.ts'
import { CurrentDefinitions } from './definitions/current-definitions.ts'
import { readDocument } from './definitions/definitions.ts'
import { DefinitionsStorage } from './definitions/definitions-storage.ts'
import { changedState, documentOf, stateOf } from './definitions/flag-state.ts'
import { type Follower, follow } from './definitions/follow.ts'
import { type Evaluation, type EvaluationContext, subjectOf } from './evaluation.ts'
import { Evaluator } from './evaluator.ts'
import { createEventQueue } from './event-queue.ts'
import { Exposures, groupsOf } from './exposures.ts'
import type { ClientOptions, FetchResponse } from './options.ts'
import { ServerEvaluations } from './server-evaluations.ts'
import { type Settings, settingsOf } from './settings.ts'

/** Follows the definitions of a project and evaluates them in process. No method throws or rejects. */
export interface HalyardClient {
  readonly status: ClientStatus
  /** The id of the project; undefined before the first definitions. */
  readonly projectId: number | undefined
  /** Resolves with true as soon as there are definitions, or with false when the key is refused or after the time. Default: 10,000. */
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

/** The `Date` header has a resolution of one second. */
const clockSkewMillisecondsMin = 2_000

/** Throws without `url`. Everything else that is wrong is reported, and evaluation goes on. */
export function createClient(options: ClientOptions): HalyardClient {
  const settings = settingsOf(options)
  const current = new CurrentDefinitions(settings)
  const storage = options.cache && new DefinitionsStorage(options.cache, current, settings.report)
  const facts = new ServerFacts(options.projectToken)
  const events = createEventQueue(settings, () => facts.projectToken)
  const server = new ServerEvaluations(settings, () => facts.projectToken)
  const evaluator = new Evaluator({
    current,
    storedPersons: options.storedPersons === 'local' ? undefined : server,
    overrides: server,
    exposures: options.exposures === false ? undefined : new Exposures(events),
    now: () => facts.now(),
    report: settings.report,
  })
  const { bootstrap } = options
  if (bootstrap !== undefined) current.useStored(() => stateOf(readDocument(bootstrap), undefined))
  const following = startFollowing(options, settings, current, storage, facts)

  return {
    get status() {
      return current.status
    },
    get projectId() {
      return current.projectId
    },
    ready: ({ timeoutMilliseconds = 10_000 } = {}) => current.ready(timeoutMilliseconds),
    evaluate: (key, context) => evaluator.evaluate(key, context),
    evaluateLocally: (key, context) => evaluator.evaluateLocally(key, context),
    evaluateAll: context => evaluator.evaluateAll(context),
    payloadsOf: key => evaluator.payloadsOf(key),
    track(event, context, properties = {}) {
      const subject = subjectOf(context)
      if (subject === undefined) return
      events.add({ event, distinct_id: subject.distinctId, properties: { ...properties, ...groupsOf(subject) } })
    },
    on: (name, listener) => current.on(name, listener),
    definitions: () => current.state && documentOf(current.state),
    flush: () => events.flush(),
    async close() {
      if (current.status === 'closed') return
      current.close()
      await (await following)?.close()
      await Promise.all([events.close(), storage?.close()])
    },
  }
}

async function startFollowing(
  { updates = 'stream' }: ClientOptions,
  settings: Settings,
  current: CurrentDefinitions,
  storage: DefinitionsStorage | undefined,
  facts: ServerFacts,
): Promise<Follower | undefined> {
  const isWithoutKey = updates !== 'none' && settings.key === undefined
  if (isWithoutKey) {
    settings.report(new Error('createClient has no `key`: pass a project secret key. Flags have no value without it.'))
    current.refuse()
  }
  // Following waits for the cache, so that the server sends only what has changed since.
  await storage?.read()
  if (updates === 'none' || isWithoutKey || current.status === 'closed') return undefined
  return follow(settings, updates, {
    digest: () => current.state?.digest,
    onDocument(document, digest) {
      current.useReceived(stateOf(document, digest))
      storage?.scheduleWrite()
    },
    onChange(change, digest) {
      if (current.state === undefined) return
      current.useReceived(changedState(current.state, change, digest))
      storage?.scheduleWrite()
    },
    onContact: () => current.confirm(),
    onInvalid: () => current.markStale(),
    onResponse: response => facts.read(response),
    onRefused: () => current.refuse(),
  })
}

/** What responses say about the project and the clock. */
class ServerFacts {
  projectToken: string | undefined
  #clockOffset = 0

  constructor(projectToken: string | undefined) {
    this.projectToken = projectToken
  }

  now(): number {
    return Date.now() + this.#clockOffset
  }

  read({ headers }: FetchResponse): void {
    this.projectToken = headers.get('x-halyard-project-token') ?? this.projectToken
    const offset = Date.parse(headers.get('date') ?? '') - Date.now()
    this.#clockOffset = Math.abs(offset) >= clockSkewMillisecondsMin ? offset : 0
  }
}
