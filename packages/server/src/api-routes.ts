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
import { serveLogin } from './features/account/login-routes.ts'
import { serveAudit } from './features/audit/audit-routes.ts'
import { createRecordRequest } from './features/audit/record-request.ts'
import { serveEnvironments } from './features/change-control/environments/environment-routes.ts'
import { serveFreezes } from './features/change-control/freezes/freeze-routes.ts'
import type { GatedWrites } from './features/change-control/gated-writes.ts'
import { serveInbox } from './features/change-control/inbox/inbox-routes.ts'
import { servePolicies } from './features/change-control/policies/policy-routes.ts'
import { serveChangeRequests } from './features/change-control/requests/change-request-routes.ts'
import { serveDecisions } from './features/change-control/requests/decision-routes.ts'
import { serveRequestComments } from './features/change-control/requests/request-comment-routes.ts'
import { createRequestDetails } from './features/change-control/requests/request-details.ts'
import { serveSchedules } from './features/change-control/schedules/schedule-routes.ts'
import { serveCodeReferences } from './features/code-references/code-reference-routes.ts'
import { serveCohorts } from './features/cohorts/cohort-routes.ts'
import { serveDashboards } from './features/dashboards/dashboard-routes.ts'
import { serveDefinitions } from './features/definitions/definition-routes.ts'
import { serveDemo } from './features/demo/demo-routes.ts'
import type { EventReceiver } from './features/events/ingest/ingest.ts'
import { serveEventCounts } from './features/events/usage/event-count-routes.ts'
import { serveAccessControls } from './features/flags/access/access-control-routes.ts'
import { serveRoleAccess } from './features/flags/access/role-access-routes.ts'
import { serveBulkFlags } from './features/flags/bulk/bulk-routes.ts'
import { serveOrganizationFlags } from './features/flags/copies/organization-flag-routes.ts'
import { serveFlagComments } from './features/flags/details/flag-comment-routes.ts'
import { serveFlagDetails } from './features/flags/details/flag-details-routes.ts'
import { serveFlagHealth } from './features/flags/details/flag-health-routes.ts'
import { serveFlagEdits } from './features/flags/edits/flag-edit-routes.ts'
import { serveEvaluation } from './features/flags/evaluation/evaluation-routes.ts'
import { servePlayground } from './features/flags/evaluation/playground-routes.ts'
import type { FlagSave } from './features/flags/flag-guard.ts'
import { serveFlags } from './features/flags/flag-routes.ts'
import { serveFlagList } from './features/flags/list/flag-list-routes.ts'
import { serveFlagOverrides } from './features/flags/overrides/override-routes.ts'
import type { Presence } from './features/flags/presence/presence.ts'
import { serveFlagPresence } from './features/flags/presence/presence-routes.ts'
import { servePayloadSchemas } from './features/flags/schemas/payload-schema-routes.ts'
import { serveFlagVersions } from './features/flags/versions/version-routes.ts'
import { serveHome } from './features/home/home-routes.ts'
import { createLoginThrottle } from './features/identity/sign-in/login-throttle.ts'
import type { Passwords } from './features/identity/sign-in/password.ts'
import { resetLimits, servePasswordReset } from './features/identity/sign-in/password-reset-routes.ts'
import { serveImpact } from './features/impact/impact-routes.ts'
import { serveCertificates } from './features/imports/certificate-routes.ts'
import { serveImports } from './features/imports/import-routes.ts'
import { serveOrganizations } from './features/organizations/organization-routes.ts'
import { serveGroups, servePersons } from './features/persons/person-routes.ts'
import { servePluginWork } from './features/plugins/configs/config-work-routes.ts'
import { servePluginConfigs } from './features/plugins/configs/plugin-config-routes.ts'
import { servePluginInstallation } from './features/plugins/install/install-routes.ts'
import { servePluginSource } from './features/plugins/install/source-routes.ts'
import { servePlugins } from './features/plugins/plugin-routes.ts'
import type { PluginSystem } from './features/plugins/plugin-system.ts'
import { servePluginReleases } from './features/plugins/releases/release-routes.ts'
import { serveProjectCredentials } from './features/projects/project-credential-routes.ts'
import { serveProjects } from './features/projects/project-routes.ts'
import { serveScim } from './features/provisioning/scim-routes.ts'
import { serveScimTokens } from './features/provisioning/scim-token-routes.ts'
import { serveRollback } from './features/rollback/rollback-routes.ts'
import { serveSavedViews } from './features/saved-views/saved-view-routes.ts'
import { serveSdkUsage } from './features/sdk-usage/sdk-usage-routes.ts'
import { factorLimits } from './features/second-factor/second-factor.ts'
import { serveSecondFactors } from './features/second-factor/second-factor-routes.ts'
import { serveServiceKeys } from './features/service-keys/service-key-routes.ts'
import { serveShadow } from './features/shadow/shadow-routes.ts'
import { serveIdentityProviders } from './features/single-sign-on/identity-provider-routes.ts'
import type { SingleSignOn } from './features/single-sign-on/single-sign-on.ts'
import { serveSingleSignOn } from './features/single-sign-on/single-sign-on-routes.ts'
import { serveTokenExchange } from './features/token-exchange/token-exchange-routes.ts'
import { serveWebhooks } from './features/webhooks/webhook-routes.ts'
import { createServeRoute, type ServeRoute } from './http/routes/serve-route.ts'
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
  readonly ingest: EventReceiver
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
  readonly presence: Presence
  /** What users open, if it is configured. */
  readonly publicUrl: string | undefined
  readonly onSignInFailed: Metrics['signInFailed']
  /** An email with a reset link could not be queued: no response reports it. */
  readonly onResetFailed: (error: unknown) => void
  readonly onShadowCompared: ReturnType<typeof createShadowMetrics>
}

/** The routes of the contract, except for those of SDKs. */
export function serveApi(app: FastifyInstance, deps: ApiDeps): void {
  const { authenticator, limiter, serving } = deps
  const serve = createServeRoute(app, authenticator, limiter, serving.streamGuard, createRecordRequest(deps))
  serveTenants(serve, deps)
  serveFlagResources(serve, deps)
  serveChangeControl(serve, deps)
  serveAudiences(serve, deps)
  servePluginResources(serve, deps)
  serveMigration(serve, deps)
  serveReplication(serve, deps)
}

function serveTenants(serve: ServeRoute, deps: ApiDeps): void {
  const { database, passwords, plugins, singleSignOn, onCohortWork: onDeleted, now } = deps
  serveAccounts(serve, deps)
  serveSingleSignOn(serve, { database, ...singleSignOn, now })
  serveIdentityProviders(serve, { database, ...singleSignOn, now })
  serveTokenExchange(serve, { database, issuers: singleSignOn.issuers, now })
  serveAudit(serve, { database, secretBox: plugins.secretBox })
  serveServiceKeys(serve, { database, now })
  serveScimTokens(serve, { database, now })
  serveScim(serve, { database, originOf: singleSignOn.originOf, now })
  serveOrganizations(serve, { database, passwords, onDeleted, now })
  serveProjects(serve, { database, onDeleted, now })
  serveProjectCredentials(serve, { database, now })
  serveAccess(serve, { database, now })
}

/** Signing in, second factors, forgotten passwords and the caller's account. */
function serveAccounts(serve: ServeRoute, deps: ApiDeps): void {
  const { database, passwords, plugins, singleSignOn, publicUrl, onSignInFailed, onResetFailed, now } = deps
  const signIn = {
    database,
    passwords,
    throttle: createLoginThrottle({
      database,
      now,
      onFailure: reason => onSignInFailed(reason === 'wrong' ? 'wrong_password' : reason),
    }),
    factorThrottle: createLoginThrottle({
      database,
      now,
      subject: 'second factor ',
      limits: factorLimits,
      onFailure: reason => onSignInFailed(reason === 'wrong' ? 'wrong_second_factor' : reason),
    }),
    secretBox: plugins.secretBox,
    publicUrl,
    providerLogout: singleSignOn.providerLogout,
    now,
  }
  serveLogin(serve, signIn)
  serveIdentity(serve, signIn)
  serveSecondFactors(serve, signIn)
  servePasswordReset(serve, {
    database,
    passwords,
    throttle: createLoginThrottle({ database, now, subject: 'reset ', limits: resetLimits }),
    onFailure: onResetFailed,
    now,
  })
}

function serveFlagResources(serve: ServeRoute, deps: ApiDeps): void {
  const { database, changes, serving, writes, overrideSigner, presence, now } = deps
  const { snapshots } = serving
  serveFlags(serve, { database, changes, writes, now })
  serveFlagList(serve, { database, changes, snapshots, writes, now })
  serveFlagDetails(serve, { database, now })
  serveFlagComments(serve, { database, now })
  serveFlagHealth(serve, { database, snapshots, now })
  serveFlagEdits(serve, { database, writes, now })
  serveFlagPresence(serve, { database, presence })
  serveFlagVersions(serve, { database, writes, now })
  serveFlagOverrides(serve, { database, overrideSigner, now })
  serveBulkFlags(serve, { database, writes, now })
  serveOrganizationFlags(serve, { database, writes })
  servePayloadSchemas(serve, { database, now })
  serveAccessControls(serve, { database, now })
  serveRoleAccess(serve, { database, now })
  serveSavedViews(serve, { database, now })
  serveEvaluation(serve, { database, ...serving, now })
  servePlayground(serve, serving)
  serveCodeReferences(serve, { database, now })
  serveDashboards(serve, { database, now })
  serveRollback(serve, { database, now })
}

function serveChangeControl(serve: ServeRoute, deps: ApiDeps): void {
  const { database, serving, writes, measure, outgoing, plugins, now } = deps
  serveEnvironments(serve, { database, writes, measure, now })
  serveFreezes(serve, { database, now })
  servePolicies(serve, { database, now })
  const details = createRequestDetails({ database, measure, now })
  serveChangeRequests(serve, { database, writes, details, now })
  serveDecisions(serve, { database, writes, details, now })
  serveRequestComments(serve, { database, now })
  serveInbox(serve, { database, now })
  serveSchedules(serve, { database, writes, now })
  serveHome(serve, { database, snapshots: serving.snapshots, now })
  serveWebhooks(serve, { database, outgoing, secretBox: plugins.secretBox, now })
}

/** Cohorts and persons, and what is known about their properties. */
function serveAudiences(serve: ServeRoute, deps: ApiDeps): void {
  const { database, serving, writes, scanner, onCohortWork, now } = deps
  serveCohorts(serve, { database, writes, scanner, onCohortWork, now })
  serveImpact(serve, { database, scanner, onCohortWork, now })
  servePersons(serve, { database, now })
  serveGroups(serve, { database, now })
  serveDefinitions(serve, { database })
  serveSdkUsage(serve, { database })
  serveEventCounts(serve, { database, snapshots: serving.snapshots })
}

function servePluginResources(serve: ServeRoute, { database, plugins, now }: ApiDeps): void {
  const { pluginBuilder, secretBox, wake } = plugins
  servePlugins(serve, { database, now })
  servePluginInstallation(serve, { database, pluginBuilder, now })
  servePluginSource(serve, { database, pluginBuilder, now })
  servePluginReleases(serve, { database, now })
  servePluginConfigs(serve, { database, secretBox, now })
  servePluginWork(serve, { database, wake, now })
}

function serveMigration(serve: ServeRoute, deps: ApiDeps): void {
  const { database, ingest, serving, writes, onCohortWork, onShadowCompared, now } = deps
  serveDemo(serve, { writes, ingest, onCohortWork, now })
  serveImports(serve, { database, writes, onCohortWork, now })
  serveCertificates(serve, { database, now })
  serveShadow(serve, { database, access: serving.access, onCompared: onShadowCompared, now })
}

/** Definitions and changes for programs that evaluate or generate code themselves. */
function serveReplication(serve: ServeRoute, deps: ApiDeps): void {
  const { authenticator, database, serving, writes, changeStreams, edges, now } = deps
  serveManifest(serve, { ...serving, writes, now })
  serveLocalEvaluation(serve, serving)
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
