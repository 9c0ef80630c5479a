import { allRoutes, sdkRoutes } from '@halyard/contract'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { serveAccess } from './access/access-routes.ts'
import type { ChangeFeed } from './changes.ts'
import { serveCohorts } from './cohorts/cohort-routes.ts'
import type { Config } from './config.ts'
import { serveDashboards } from './dashboards/dashboard-routes.ts'
import type { EdgeFeed } from './edge-feed/edge-feed.ts'
import { serveEdges } from './edge-feed/edge-routes.ts'
import type { BatchReceiver } from './edge-feed/receive-batches.ts'
import { serveEvaluation } from './evaluation/evaluation-routes.ts'
import type { StoredSubjects } from './evaluation/gather-subject.ts'
import type { Ingest } from './events/ingest.ts'
import { serveIngest } from './events/ingest-routes.ts'
import { serveBulkFlags } from './flag-bulk/bulk-routes.ts'
import { serveOrganizationFlags } from './flag-copies/organization-flag-routes.ts'
import { serveFlagVersions } from './flag-versions/version-routes.ts'
import { serveFlags } from './flags/flag-routes.ts'
import { serveRoleAccess } from './flags/role-access-routes.ts'
import { createHttp } from './http/create-http.ts'
import { serveDocs } from './http/docs-routes.ts'
import { inTurns } from './http/in-turns.ts'
import { createLoadShedder } from './http/load-shedder.ts'
import { createRateLimiter } from './http/rate-limit.ts'
import { createServeRoute } from './http/serve-route.ts'
import { createGate } from './identity/gate.ts'
import { serveIdentity } from './identity/identity-routes.ts'
import { createLoginThrottle } from './identity/login-throttle.ts'
import type { Instant } from './instant.ts'
import { serveOfrep } from './ofrep/ofrep-routes.ts'
import type { Metrics } from './operations/metrics.ts'
import { type Readiness, serveOperations } from './operations/operations-routes.ts'
import { serveOrganizations } from './organizations/organization-routes.ts'
import type { Peers } from './peers.ts'
import { serveGroups, servePersons } from './persons/person-routes.ts'
import { servePluginConfigs } from './plugins/configs/plugin-config-routes.ts'
import { servePlugins } from './plugins/plugin-routes.ts'
import type { PluginSystem } from './plugins/plugin-system.ts'
import { serveProjects } from './projects/project-routes.ts'
import { serveReach } from './reach/reach-routes.ts'
import type { Scanner } from './reach/scanner.ts'
import { serveRollback } from './rollback/rollback-routes.ts'
import { serveSchedules } from './schedules/schedule-routes.ts'
import { serveLocalEvaluation } from './sdk/local-evaluation-routes.ts'
import { serveSdk } from './sdk/sdk-routes.ts'
import type { Serving } from './serving.ts'
import type { Database } from './stores.ts'
import { serveChanges } from './streams/change-routes.ts'
import { serveStreams } from './streams/stream-routes.ts'
import { levelInProject } from './tenancy.ts'
import { version } from './version.ts'
import { listPageFiles } from './web/page-files.ts'
import { servePage } from './web/page-routes.ts'

export interface AppDeps {
  readonly config: Pick<
    Config,
    'bodyBytesMax' | 'trustProxy' | 'requestsPerMinuteMax' | 'lagMillisecondsMax' | 'inFlightMax'
  >
  readonly database: Database
  readonly changes: ChangeFeed
  readonly serving: Serving
  readonly ingest: Ingest
  readonly edges: { readonly feed: EdgeFeed; readonly batches: BatchReceiver; readonly subjects: StoredSubjects }
  readonly log: FastifyBaseLogger
  readonly metrics: Metrics
  readonly peers: Peers
  readonly plugins: PluginSystem
  readonly readiness: Readiness
  readonly scanner: Scanner
  /** There is work on cohorts to be done in the background. */
  readonly onCohortWork: () => void
  readonly now: () => Instant
}

/** The whole HTTP application, without a port. */
export function createApp({
  config,
  database,
  changes,
  edges,
  ingest,
  log,
  metrics,
  peers,
  plugins,
  onCohortWork,
  readiness,
  scanner,
  serving,
  now,
}: AppDeps): FastifyInstance {
  const gate = createGate({ database, changes, actors: serving.actors, now })
  const shedder = createLoadShedder(config)
  const app = createHttp({
    gate,
    log,
    ...config,
    bodyRoom: serving.bodyRoom,
    shedder,
    takeFirst: serving.fastLane.takeFirst,
    plainLane: serving.fastLane.plain,
    onAnswer: metrics.observeRequest,
  })
  const serve = createServeRoute(app, gate, createRateLimiter(config.requestsPerMinuteMax, peers))

  metrics.watchLoad(shedder.load)
  metrics.watchEvaluations(() => serving.counts.totals)
  app.register(
    inTurns([
      () => serveOperations(app, readiness, metrics),
      () => serveDocs(app, [...allRoutes, ...sdkRoutes], version),
      () => servePage(app, listPageFiles()),
      () => serveIdentity(serve, { database, throttle: createLoginThrottle({ database, now }), now }),
      () => serveOrganizations(serve, { database, now }),
      () => serveProjects(serve, { database, now }),
      () => serveAccess(serve, { database, now }),
      () => serveFlags(serve, { database, changes, now }),
      () => serveFlagVersions(serve, { database, now }),
      () => serveBulkFlags(serve, { database, now }),
      () => serveSchedules(serve, { database, now }),
      () => serveRollback(serve, { database, now }),
      () => serveDashboards(serve, { database, now }),
      () => serveEvaluation(serve, { database, ...serving, now }),
      () => serveOrganizationFlags(serve, { database, now }),
      () => serveRoleAccess(serve, { database, now }),
      () => serveCohorts(serve, { database, scanner, onCohortWork, now }),
      () => serveReach(serve, { database, scanner, onCohortWork, now }),
      () => servePlugins(serve, { database, workshop: plugins.workshop, now }),
      () => serveLocalEvaluation(serve, serving),
      () => serveSdk(app, serving),
      () => serveIngest(app, ingest),
      () => servePersons(serve, { database, now }),
      () => serveGroups(serve, { database, now }),
      () => servePluginConfigs(serve, { database, secretBox: plugins.secretBox, wake: plugins.wake, now }),
      () => serveStreams(app, serving),
      () => serveChanges(app, serve, { gate, changes }),
      () => serveOfrep(app, serving),
      () =>
        serveEdges(app, serve, {
          gate,
          ...edges,
          async findProject(actor, uuid) {
            const project = await database.read(tx => tx.projects.findByUuid(uuid))
            return project && levelInProject(actor, project) !== undefined ? project.id : undefined
          },
        }),
    ]),
  )
  return app
}
