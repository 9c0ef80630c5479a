import type { FastifyInstance } from 'fastify'
import type { EdgeFeed } from './api/edge/edge-feed.ts'
import { serveEdges } from './api/edge/edge-routes.ts'
import type { BatchReceiver } from './api/edge/receive-batches.ts'
import { serveManifest } from './api/manifest/manifest-routes.ts'
import { serveLocalEvaluation } from './api/sdk/local-evaluation-routes.ts'
import { serveChanges } from './api/streams/change-routes.ts'
import type { ChangeStreams } from './api/streams/change-streams.ts'
import type { Impact } from './domain/policy.ts'
import type { OverrideSigner } from './evaluation/projects/signed-overrides.ts'
import type { Scanner } from './evaluation/scan/scanner.ts'
import type { StoredSubjects } from './evaluation/subjects/gather-subject.ts'
import { serveAccess } from './features/access/access-routes.ts'
import { serveIdentity } from './features/account/account-routes.ts'
import { createRecordRequest } from './features/audit/record-request.ts'
import { serveEnvironments } from './features/change-control/environments/environment-routes.ts'
import { serveFreezes } from './features/change-control/freezes/freeze-routes.ts'
import type { GatedWrites } from './features/change-control/gated-writes.ts'
import { servePolicies } from './features/change-control/policies/policy-routes.ts'
import { serveChangeRequests } from './features/change-control/requests/change-request-routes.ts'
import { serveSchedules } from './features/change-control/schedules/schedule-routes.ts'
import { serveCodeReferences } from './features/code-references/code-reference-routes.ts'
import { serveCohorts } from './features/cohorts/cohort-routes.ts'
import { serveDashboards } from './features/dashboards/dashboard-routes.ts'
import { serveDefinitions } from './features/definitions/definition-routes.ts'
import { serveAccessControls } from './features/flags/access/access-control-routes.ts'
import { serveRoleAccess } from './features/flags/access/role-access-routes.ts'
import { serveBulkFlags } from './features/flags/bulk/bulk-routes.ts'
import { serveOrganizationFlags } from './features/flags/copies/organization-flag-routes.ts'
import { serveFlagDetails } from './features/flags/details/flag-details-routes.ts'
import { serveFlagEdits } from './features/flags/edits/flag-edit-routes.ts'
import { serveEvaluation } from './features/flags/evaluation/evaluation-routes.ts'
import { servePlayground } from './features/flags/evaluation/playground-routes.ts'
import type { FlagSave } from './features/flags/flag-guard.ts'
import { serveFlags } from './features/flags/flag-routes.ts'
import { serveFlagList } from './features/flags/list/flag-list-routes.ts'
import { serveFlagOverrides } from './features/flags/overrides/override-routes.ts'
import { servePayloadSchemas } from './features/flags/schemas/payload-schema-routes.ts'
import { serveFlagVersions } from './features/flags/versions/version-routes.ts'
import { createLoginThrottle } from './features/identity/sign-in/login-throttle.ts'
import type { Passwords } from './features/identity/sign-in/password.ts'
import { serveImpact } from './features/impact/impact-routes.ts'
import { serveCertificates } from './features/imports/certificate-routes.ts'
import { serveImports } from './features/imports/import-routes.ts'
import { serveOrganizations } from './features/organizations/organization-routes.ts'
import { serveGroups, servePersons } from './features/persons/person-routes.ts'
import { servePluginConfigs } from './features/plugins/configs/plugin-config-routes.ts'
import { servePlugins } from './features/plugins/plugin-routes.ts'
import type { PluginSystem } from './features/plugins/plugin-system.ts'
import { serveProjects } from './features/projects/project-routes.ts'
import { serveRollback } from './features/rollback/rollback-routes.ts'
import { serveSavedViews } from './features/saved-views/saved-view-routes.ts'
import { serveSdkUsage } from './features/sdk-usage/sdk-usage-routes.ts'
import { serveServiceKeys } from './features/service-keys/service-key-routes.ts'
import { serveShadow } from './features/shadow/shadow-routes.ts'
import { serveIdentityProviders } from './features/single-sign-on/identity-provider-routes.ts'
import type { SingleSignOn } from './features/single-sign-on/single-sign-on.ts'
import { serveSingleSignOn } from './features/single-sign-on/single-sign-on-routes.ts'
import { serveWebhooks } from './features/webhooks/webhook-routes.ts'
import { createServeRoute } from './http/routes/serve-route.ts'
import type { Authenticator } from './http/server/authenticator.ts'
import type { Instant } from './instant.ts'
import type { Metrics } from './observability/metrics.ts'
import type { createShadowMetrics } from './observability/shadow-metrics.ts'
import type { Outgoing } from './outgoing/outgoing.ts'
import type { RateLimiter } from './overload/rate-limit.ts'
import type { Serving } from './serving.ts'
import type { ChangeFeed } from './storage/changes/changes.ts'
import type { Database } from './stores.ts'
import { levelInProject } from './tenancy.ts'

/** What the server consists of, as far as the API uses it. */
export interface ApiServices {
  readonly database: Database
  readonly changes: ChangeFeed
  readonly serving: Serving
  readonly passwords: Passwords
  readonly edges: { readonly feed: EdgeFeed; readonly batches: BatchReceiver; readonly subjects: StoredSubjects }
  readonly plugins: PluginSystem
  readonly scanner: Scanner
  readonly writes: GatedWrites
  readonly overrideSigner: OverrideSigner
  /** Requests to webhooks. */
  readonly outgoing: Outgoing
  readonly singleSignOn: SingleSignOn
  /** How many people a change of a flag concerns. */
  readonly measure: (save: FlagSave) => Promise<Impact | undefined>
  /** There is background work on cohorts. */
  readonly onCohortWork: () => void
  readonly now: () => Instant
}

export interface ApiDeps extends ApiServices {
  readonly authenticator: Authenticator
  readonly limiter: RateLimiter
  readonly changeStreams: ChangeStreams
  readonly onSignInFailed: Metrics['signInFailed']
  readonly onShadowCompared: ReturnType<typeof createShadowMetrics>
}

/** The routes of the contract, except for those of SDKs. */
export function serveApi(
  app: FastifyInstance,
  {
    authenticator,
    limiter,
    changeStreams,
    onSignInFailed,
    onShadowCompared,
    database,
    changes,
    edges,
    passwords,
    plugins,
    onCohortWork,
    scanner,
    serving,
    writes,
    overrideSigner,
    outgoing,
    singleSignOn,
    measure,
    now,
  }: ApiDeps,
): void {
  const serve = createServeRoute(
    app,
    authenticator,
    limiter,
    serving.streamGuard,
    createRecordRequest({ database, now }),
  )
  serveIdentity(serve, {
    database,
    passwords,
    throttle: createLoginThrottle({ database, now, onFailure: onSignInFailed }),
    providerLogout: singleSignOn.providerLogout,
    now,
  })
  serveSingleSignOn(serve, { database, ...singleSignOn, now })
  serveIdentityProviders(serve, { database, ...singleSignOn, now })
  serveServiceKeys(serve, { database, now })
  serveOrganizations(serve, { database, passwords, now })
  serveProjects(serve, { database, now })
  serveAccess(serve, { database, now })
  serveFlags(serve, { database, changes, writes, now })
  serveFlagDetails(serve, { database, snapshots: serving.snapshots, now })
  serveCodeReferences(serve, { database, now })
  servePayloadSchemas(serve, { database, now })
  serveManifest(serve, { ...serving, writes, now })
  serveFlagOverrides(serve, { database, overrideSigner, now })
  serveFlagEdits(serve, { database, writes, now })
  serveEnvironments(serve, { database, writes, measure, now })
  serveImports(serve, { database, writes, onCohortWork, now })
  serveCertificates(serve, { database, now })
  serveShadow(serve, { database, access: serving.access, onCompared: onShadowCompared, now })
  serveFreezes(serve, { database, now })
  servePolicies(serve, { database, now })
  serveWebhooks(serve, { database, outgoing, secretBox: plugins.secretBox, now })
  serveChangeRequests(serve, { database, writes, measure, now })
  serveFlagVersions(serve, { database, writes, now })
  serveBulkFlags(serve, { database, writes, now })
  serveSchedules(serve, { database, writes, now })
  serveFlagList(serve, { database, changes, snapshots: serving.snapshots, writes, now })
  serveSavedViews(serve, { database, now })
  serveRollback(serve, { database, now })
  serveDashboards(serve, { database, now })
  serveEvaluation(serve, { database, ...serving, now })
  servePlayground(serve, serving)
  serveOrganizationFlags(serve, { database, writes })
  serveAccessControls(serve, { database, now })
  serveRoleAccess(serve, { database, now })
  serveCohorts(serve, { database, writes, scanner, onCohortWork, now })
  serveImpact(serve, { database, scanner, onCohortWork, now })
  servePlugins(serve, { database, pluginBuilder: plugins.pluginBuilder, now })
  serveLocalEvaluation(serve, serving)
  servePersons(serve, { database, now })
  serveGroups(serve, { database, now })
  serveDefinitions(serve, { database })
  serveSdkUsage(serve, { database })
  servePluginConfigs(serve, { database, secretBox: plugins.secretBox, wake: plugins.wake, now })
  serveChanges(serve, changeStreams)
  serveEdges(serve, {
    authenticator,
    ...edges,
    async findProject(actor, uuid) {
      const project = await database.read(tx => tx.projects.findByUuid(uuid))
      return project && levelInProject(actor, project) !== undefined ? project.id : undefined
    },
  })
}
