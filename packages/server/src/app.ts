import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { serveOfrep } from './api/ofrep/ofrep-routes.ts'
import { serveSdk } from './api/sdk/sdk-routes.ts'
import { createServingHttp } from './api/serving-http.ts'
import type { ChangeStreams } from './api/streams/change-streams.ts'
import { serveStreams } from './api/streams/stream-routes.ts'
import { type ApiServices, serveApi } from './api-routes.ts'
import type { Config } from './config.ts'
import type { Ingest } from './features/events/ingest/ingest.ts'
import { serveIngest } from './features/events/ingest-routes.ts'
import { createPresence } from './features/flags/presence/presence.ts'
import { createAuthenticator } from './features/identity/authenticator.ts'
import type { FirstCredentials } from './features/identity/first-start/first-credentials.ts'
import { serveSetup } from './features/identity/first-start/setup-routes.ts'
import { serveDocs } from './http/api-docs/api-docs-routes.ts'
import { serveDocsSite } from './http/docs-site/docs-site-routes.ts'
import { listPageFiles } from './http/web-app/web-app-files.ts'
import { servePage } from './http/web-app/web-app-routes.ts'
import type { Metrics } from './observability/metrics.ts'
import { type Readiness, serveOperations } from './observability/operations-routes.ts'
import { createShadowMetrics } from './observability/shadow-metrics.ts'
import type { Tracing } from './observability/telemetry/tracing.ts'
import { createRateLimiter } from './overload/rate-limit.ts'
import type { EphemeralChanges } from './storage/changes/ephemeral-changes.ts'
import { version } from './version.ts'
import type { WorkerBus } from './worker-bus.ts'

export interface AppDeps extends ApiServices {
  readonly config: Pick<
    Config,
    | 'accessLog'
    | 'metricsPort'
    | 'metricsToken'
    | 'bodyBytesMax'
    | 'fastPath'
    | 'inFlightMax'
    | 'lagMillisecondsMax'
    | 'publicUrl'
    | 'requestsPerMinuteMax'
    | 'trustProxy'
  >
  readonly changeStreams: ChangeStreams
  readonly ephemeral: Pick<EphemeralChanges, 'publish' | 'subscribe'>
  readonly firstCredentials: FirstCredentials
  readonly ingest: Ingest
  readonly log: FastifyBaseLogger
  readonly metrics: Metrics
  readonly peers: WorkerBus
  readonly readiness: Readiness
  readonly tracing: Tracing | undefined
}

/** The whole HTTP application, without a port. */
export function createApp(deps: AppDeps): FastifyInstance {
  const {
    config,
    database,
    changes,
    changeStreams,
    edges,
    firstCredentials,
    ingest,
    log,
    metrics,
    peers,
    readiness,
    serving,
    now,
  } = deps
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
  const presence = createPresence({ ephemeral: deps.ephemeral, now })
  servePage(app, page, changeStreams.position)
  serveSetup(app, firstCredentials, page?.fonts, now)

  serveApi(app, {
    ...deps,
    authenticator,
    presence,
    limiter: createRateLimiter(config.requestsPerMinuteMax || undefined, peers),
    publicUrl: config.publicUrl,
    onSignInFailed: metrics.signInFailed,
    onResetFailed: error =>
      log.error({ event: 'password_reset_failed', err: error }, 'a password reset could not be emailed'),
    onShadowCompared: createShadowMetrics(metrics.registry),
  })
  app.addHook('preClose', async () => {
    changeStreams.close()
    presence.close()
    edges.feed.close()
  })
  return app
}
