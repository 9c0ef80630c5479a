import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { EdgeFeed } from './api/edge/edge-feed.ts'
import type { BatchReceiver } from './api/edge/receive-batches.ts'
import { serveOfrep } from './api/ofrep/ofrep-routes.ts'
import { serveSdk } from './api/sdk/sdk-routes.ts'
import { createChangeStreams } from './api/streams/change-streams.ts'
import { serveStreams } from './api/streams/stream-routes.ts'
import type { Config } from './config.ts'
import type { StoredSubjects } from './evaluation/subjects/gather-subject.ts'
import type { GatedWrites } from './features/approvals/gated-writes.ts'
import type { Impact } from './features/approvals/policy.ts'
import type { Ingest } from './features/events/ingest/ingest.ts'
import { serveIngest } from './features/events/ingest-routes.ts'
import type { OverrideSigner } from './features/flag-overrides/signed-overrides.ts'
import type { FlagSave } from './features/flags/flag-guard.ts'
import { createAuthenticator } from './features/identity/authenticator.ts'
import type { FirstCredentials } from './features/identity/first-start/first-credentials.ts'
import { serveSetup } from './features/identity/first-start/setup-routes.ts'
import type { Passwords } from './features/identity/sign-in/password.ts'
import type { Scanner } from './features/impact/scan/scanner.ts'
import type { PluginSystem } from './features/plugins/plugin-system.ts'
import { serveDocs } from './http/api-docs/api-docs-routes.ts'
import { serveDocsSite } from './http/docs-site/docs-site-routes.ts'
import { serveLazily } from './http/routes/lazy-routes.ts'
import { createServingHttp } from './http/server/serving-http.ts'
import { listPageFiles } from './http/web-app/web-app-files.ts'
import { servePage } from './http/web-app/web-app-routes.ts'
import type { Instant } from './instant.ts'
import type { Metrics } from './observability/metrics.ts'
import { type Readiness, serveOperations } from './observability/operations-routes.ts'
import { createShadowMetrics } from './observability/shadow-metrics.ts'
import type { Tracing } from './observability/telemetry/tracing.ts'
import type { Outgoing } from './outgoing/outgoing.ts'
import { createRateLimiter } from './overload/rate-limit.ts'
import type { Serving } from './serving.ts'
import type { ChangeFeed } from './storage/changes/changes.ts'
import type { Database } from './stores.ts'
import { version } from './version.ts'
import type { WorkerBus } from './worker-bus.ts'

export interface AppDeps {
  readonly config: Pick<
    Config,
    | 'accessLog'
    | 'metricsPort'
    | 'metricsToken'
    | 'bodyBytesMax'
    | 'fastPath'
    | 'inFlightMax'
    | 'lagMillisecondsMax'
    | 'requestsPerMinuteMax'
    | 'trustProxy'
  >
  readonly database: Database
  readonly changes: ChangeFeed
  readonly serving: Serving
  readonly firstCredentials: FirstCredentials
  readonly passwords: Passwords
  readonly ingest: Ingest
  readonly edges: { readonly feed: EdgeFeed; readonly batches: BatchReceiver; readonly subjects: StoredSubjects }
  readonly log: FastifyBaseLogger
  readonly metrics: Metrics
  readonly peers: WorkerBus
  readonly plugins: PluginSystem
  readonly readiness: Readiness
  readonly scanner: Scanner
  readonly tracing: Tracing | undefined
  readonly writes: GatedWrites
  readonly overrideSigner: OverrideSigner
  /** Requests to webhooks. */
  readonly outgoing: Outgoing
  /** How many people a change of a flag concerns. */
  readonly measure: (save: FlagSave) => Promise<Impact | undefined>
  /** There is background work on cohorts. */
  readonly onCohortWork: () => void
  readonly now: () => Instant
}

/** The whole HTTP application, without a port. */
export function createApp(deps: AppDeps): FastifyInstance {
  const { config, database, changes, edges, firstCredentials, ingest, log, metrics, peers, readiness, serving, now } =
    deps
  const authenticator = createAuthenticator({ database, changes, actors: serving.actors, now })
  const app = createServingHttp({ config, authenticator, serving, metrics, tracing: deps.tracing, log })

  serveOperations(app, readiness, metrics, config)
  serveSdk(app, serving)
  serveOfrep(app, serving)
  serveStreams(app, serving)
  serveIngest(app, ingest)

  const page = listPageFiles()
  serveDocs(app, version, page?.apiDocs)
  serveDocsSite(app)
  servePage(app, page)
  serveSetup(app, firstCredentials, now)

  const changeStreams = createChangeStreams(changes)
  const api = {
    ...deps,
    authenticator,
    changeStreams,
    limiter: createRateLimiter(config.requestsPerMinuteMax || undefined, peers),
    onSignInFailed: metrics.signInFailed,
    onShadowCompared: createShadowMetrics(metrics.registry),
  }
  serveLazily(app, ['/api', '/openfeature'], async routes => (await import('./api-routes.ts')).serveApi(routes, api))
  app.addHook('preClose', async () => {
    changeStreams.close()
    edges.feed.close()
  })
  return app
}
