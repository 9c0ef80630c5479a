import { join } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { createEdgeFeed, type EdgeFeed } from './api/edge/edge-feed.ts'
import { serveEdges } from './api/edge/edge-routes.ts'
import { serveOfrep } from './api/ofrep/ofrep-routes.ts'
import { serveSdk } from './api/sdk/sdk-routes.ts'
import { createServingHttp } from './api/serving-http.ts'
import { serveStreams } from './api/streams/stream-routes.ts'
import type { Config } from './config.ts'
import { takeDataFolder } from './edge/data-folder.ts'
import { createEdgeGate } from './edge/edge-authenticator.ts'
import { watchEdge } from './edge/edge-metrics.ts'
import { type EventSpool, openEventSpool } from './edge/event-spool.ts'
import { type Following, followUpstream } from './edge/follow-upstream.ts'
import { forwardEvents } from './edge/forward-events.ts'
import { createReplica, type Replica } from './edge/replica.ts'
import { createSpooledBatches, createSpooledIngest } from './edge/spooled-ingest.ts'
import { DamagedState, stateFile } from './edge/state-file.ts'
import { createStateKeeper } from './edge/state-keeper.ts'
import { createStateTrust } from './edge/state-trust.ts'
import { connectUpstream } from './edge/upstream.ts'
import { upstreamSubjects } from './edge/upstream-subjects.ts'
import type { StoredSubjects } from './evaluation/subjects/gather-subject.ts'
import { serveIngest } from './features/events/ingest-routes.ts'
import { createServeRoute } from './http/routes/serve-route.ts'
import { type Instant, instantOf } from './instant.ts'
import { watchFollowers } from './observability/edge-metrics.ts'
import { createMetrics, type Metrics } from './observability/metrics.ts'
import { serveOperations } from './observability/operations-routes.ts'
import type { Telemetry } from './observability/telemetry/telemetry.ts'
import { createRateLimiter } from './overload/rate-limit.ts'
import { createServing, type Serving } from './serving.ts'
import { levelInProject } from './tenancy.ts'

/** A Halyard without a database, close to its clients. */
export interface Edge {
  readonly app: FastifyInstance
  readonly metrics: Metrics
  readonly serving: Serving
  readonly replica: Replica
  readonly following: Following
  /** Whether there is something to serve: from disk at once, otherwise after the upstream has sent its state. */
  isReady(): boolean
  drain(): Promise<void>
  close(): Promise<void>
}

export type EdgeConfig = Config & { readonly upstream: string; readonly upstreamKey: string }

const reportMilliseconds = 10_000

/** Composition root of an edge: the same parts as in `main.ts`, over the state that the upstream publishes. */
export async function createEdge(config: EdgeConfig, log: FastifyBaseLogger, telemetry?: Telemetry): Promise<Edge> {
  const tracing = telemetry?.tracing
  const now = (): Instant => instantOf(new Date())
  const giveBack = await takeDataFolder(config.edgeData)
  const spool = await openEventSpool(join(config.edgeData, 'events'), config.edgeSpoolBytesMax)
  const replica = createReplica()
  const file = stateFile(config.edgeData)
  let hasState = await loadState(file, replica, log)
  const keeper = createStateKeeper(file, replica.all, error => log.error({ err: error }, 'the state was not written'))

  const upstream = connectUpstream({
    url: config.upstream,
    key: config.upstreamKey,
    outgoingHeaders: tracing?.outgoingHeaders,
  })
  const subjects = upstreamSubjects(config.edgeLookUps, upstream, replica)
  const authenticator = createEdgeGate(replica, now)
  const serving = serveReplica(replica, { config, authenticator, subjects, now })
  const feed = createEdgeFeed(replica.states)
  let followed: Following | undefined
  const trust = await createStateTrust({
    replica,
    file,
    ageMillisecondsMax: config.edgeStateHoursMax * 60 * 60 * 1000,
    hasState: () => hasState,
    following: () => followed,
    onError: error => log.error({ err: error }, 'the age of the state was not written'),
  })
  const following = followUpstream({
    upstream,
    replica,
    stateBytesMax: config.edgeStateBytesMax,
    onCurrent() {
      hasState = true
      keeper.note()
      trust.review()
    },
    onFailed: trust.review,
    log,
  })
  followed = following
  const forwarding = forwardEvents({ spool, upstream, log })

  const metrics = createMetrics()
  watchEdge(metrics.registry, { replica, following, spool, forwarding })
  watchFollowers(metrics.registry, () => feed.size)
  const app = createServingHttp({ config, authenticator, serving, metrics, tracing, log })
  telemetry?.exportMetrics(metrics.registry)

  let isDraining = false
  const readiness = {
    check: async () => ({
      // A state that is too old still evaluates for public tokens.
      canEvaluate: trust.status === 'ok' || trust.status === 'too old',
      // Events are spooled on disk while the upstream is away.
      canWrite: trust.status === 'ok',
      details: { state: trust.status, upstream: following.connection },
    }),
    isDraining: () => isDraining,
  }
  serveOperations(app, readiness, metrics, config)
  serveEdgeRoutes(app, { config, authenticator, serving, replica, spool, feed, subjects, now })

  const report = createEvaluationReport(serving, spool)
  const reporting = setInterval(report, reportMilliseconds)

  return {
    app,
    metrics,
    serving,
    replica,
    following,
    isReady: () => hasState,
    async drain() {
      isDraining = true
      serving.beginClosing()
      await Promise.all([serving.streams.drain(), feed.drain()])
    },
    async close() {
      serving.beginClosing()
      clearInterval(reporting)
      trust.close()
      await app.close()
      await following.close()
      await report()
      await forwarding.close()
      serving.close()
      await keeper.close()
      await giveBack()
    },
  }
}

interface RouteDeps {
  readonly config: EdgeConfig
  readonly authenticator: ReturnType<typeof createEdgeGate>
  readonly serving: Serving
  readonly replica: Replica
  readonly spool: EventSpool
  readonly feed: EdgeFeed
  readonly subjects: StoredSubjects
  readonly now: () => Instant
}

/** Evaluates with the definitions of the replica. */
const serveReplica = (
  replica: Replica,
  { config, authenticator, subjects, now }: Pick<RouteDeps, 'config' | 'authenticator' | 'subjects' | 'now'>,
): Serving =>
  createServing({
    source: {
      projects: replica.projects,
      subjects,
      findActor: replica.findActor,
      currentProjectOf: actor => authenticator.projectFor(actor, '@current', undefined),
      changes: replica.changes,
    },
    now,
    bodiesBytesMax: config.bodiesBytesMax,
  })

/** The protocols that an edge serves: evaluation, events, and the state for edges that follow this one. */
function serveEdgeRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { config, authenticator, serving, replica, spool, feed, subjects, now } = deps
  serveSdk(app, serving)
  serveOfrep(app, serving)
  serveStreams(app, serving)
  serveIngest(app, createSpooledIngest(replica, spool, now))
  app.addHook('preClose', async () => feed.close())
  const limiter = createRateLimiter(config.requestsPerMinuteMax || undefined)
  serveEdges(createServeRoute(app, authenticator, limiter, serving.streamGuard), {
    authenticator,
    feed,
    batches: createSpooledBatches(replica, spool),
    subjects,
    async findProject(actor, uuid) {
      const project = replica.findByUuid(uuid)
      return project && levelInProject(actor, project) !== undefined ? project.id : undefined
    },
  })
}

/** Each call queues the number of evaluations since the previous one for the upstream. */
function createEvaluationReport({ counts }: Serving, spool: EventSpool): () => Promise<void> {
  const reported = { requests: 0, flags: 0 }
  return async () => {
    const { requests, flags } = counts.totals
    const evaluations = { requests: requests - reported.requests, flags: flags - reported.flags }
    if (evaluations.requests === 0) return
    Object.assign(reported, { requests, flags })
    // Numbers are no reason to stop serving.
    await spool.append({ evaluations }).catch(() => {})
  }
}

async function loadState(
  file: ReturnType<typeof stateFile>,
  replica: Replica,
  log: Pick<FastifyBaseLogger, 'info' | 'error'>,
): Promise<boolean> {
  try {
    const states = await file.read()
    for (const state of states ?? []) await replica.put(state)
    if (states) log.info({ projects: states.length }, 'serving the last state from disk')
    return states !== undefined
  } catch (error) {
    if (!(error instanceof DamagedState)) throw error
    log.error({ problem: error.message }, 'starting without a state')
    return false
  }
}
