import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { createEdgeFeed } from './api/edge/edge-feed.ts'
import { createBatchReceiver } from './api/edge/receive-batches.ts'
import { createStoredStates } from './api/edge/stored-states.ts'
import { createChangeStreams } from './api/streams/change-streams.ts'
import { createApp } from './app.ts'
import { startBackgroundJobs } from './background-jobs.ts'
import { coalesce } from './concurrency/coalesce.ts'
import type { Config } from './config.ts'
import { createOverrideSigner } from './evaluation/projects/signed-overrides.ts'
import { createScanner } from './evaluation/scan/scanner.ts'
import { warmUp } from './evaluation/warm-up.ts'
import { createGatedWrites } from './features/change-control/gated-writes.ts'
import type { EmailTransport } from './features/emails/send-emails.ts'
import { createSmtpTransport, senderOf } from './features/emails/smtp-transport.ts'
import { createIngest, type Ingest } from './features/events/ingest/ingest.ts'
import { createIngestMetrics } from './features/events/ingest/ingest-metrics.ts'
import type { FlagSave } from './features/flags/flag-guard.ts'
import { createFirstCredentials, type FirstCredentials } from './features/identity/first-start/first-credentials.ts'
import type { FirstOwner } from './features/identity/first-start/first-owner.ts'
import { createPasswords } from './features/identity/sign-in/password.ts'
import { measureImpact } from './features/impact/measure-impact.ts'
import { bootstrap } from './features/organizations/bootstrap.ts'
import { createPluginSystem, type PluginSystem } from './features/plugins/plugin-system.ts'
import { createPluginCounters } from './features/plugins/runtime/plugin-metrics.ts'
import { type Locate, openGeoip } from './features/plugins/runtime/services/geoip.ts'
import { createEventLabels } from './features/rollback/event-labels.ts'
import { startWritingSdkCalls } from './features/sdk-usage/write-sdk-calls.ts'
import { createSingleSignOn } from './features/single-sign-on/single-sign-on.ts'
import { callInProcess } from './http/server/call-in-process.ts'
import { type Instant, instantOf } from './instant.ts'
import type { JobRunner } from './jobs/job-runner.ts'
import { createEdgeCounters, watchFollowers } from './observability/edge-metrics.ts'
import { createFailureCounters, type FailureCounters } from './observability/failure-metrics.ts'
import { createMetrics, type Metrics } from './observability/metrics.ts'
import { databaseReadiness } from './observability/operations-routes.ts'
import type { Telemetry } from './observability/telemetry/telemetry.ts'
import { openDatabase } from './open-database.ts'
import { createGuardedClient } from './outgoing/guarded-client.ts'
import { createServing, type Serving, storedSource } from './serving.ts'
import type { ChangeFeed } from './storage/changes/changes.ts'
import { openStorage, type Storage, type StorageOptions } from './storage/open-storage.ts'
import { openPersonsStorage } from './storage/persons-storage.ts'
import { createSecretBox } from './storage/secret-box.ts'
import type { Database } from './stores.ts'
import { noWorkerBus, type WorkerBus } from './worker-bus.ts'

export interface Halyard {
  readonly app: FastifyInstance
  readonly database: Database
  readonly changes: ChangeFeed
  readonly storage: Storage
  /** The database of persons when it is one of its own. */
  readonly personsStorage: Storage | undefined
  readonly serving: Serving
  readonly jobs: JobRunner
  readonly plugins: PluginSystem
  /** Resolves when the projects are in memory, or after a bounded time. */
  warm(): Promise<void>
  /** Set when this start found an empty database. */
  readonly firstOwner: FirstOwner | undefined
  readonly firstCredentials: FirstCredentials
  readonly metrics: Metrics
  /** From now on `/_readyz` responds 503, so that load balancers choose another node, and streams end one after another. */
  drain(): Promise<void>
  close(): Promise<void>
}

export interface HalyardOptions extends Pick<StorageOptions, 'wrapDialect'> {
  /** The same for the database of persons. */
  readonly persons?: Pick<StorageOptions, 'wrapDialect'>
  /** The sibling workers of this process. */
  readonly peers?: WorkerBus
  /** Closed by the caller, after `close`. */
  readonly telemetry?: Telemetry | undefined
}

/** Composition root: builds everything in order; `close` undoes it in reverse. */
export async function createHalyard(
  config: Config,
  log: FastifyBaseLogger,
  { peers = noWorkerBus, telemetry, persons, ...storageOptions }: HalyardOptions = {},
): Promise<Halyard> {
  const locate = await openGeoip(config.geoipDatabase)
  const options = {
    statementMillisecondsMax: config.statementMillisecondsMax,
    onConnectionError: (error: Error) =>
      log.warn({ event: 'database_connection_lost', err: error }, 'a database connection was lost'),
  }
  const storage = openStorage(config.databaseUrl, { ...storageOptions, ...options })
  const { personsDatabaseUrl } = config
  const personsStorage =
    personsDatabaseUrl === undefined ? undefined : openPersonsStorage(personsDatabaseUrl, { ...persons, ...options })
  const metrics = createMetrics(peers)
  const failures = createFailureCounters(metrics.registry)
  const now = (): Instant => instantOf(new Date())
  try {
    return await startNode({ config, log, peers, telemetry, locate, storage, personsStorage, metrics, failures, now })
  } catch (error) {
    await personsStorage?.close()
    await storage.close()
    throw error
  }
}

/** What every stage of the start may use. */
interface Environment {
  readonly config: Config
  readonly log: FastifyBaseLogger
  readonly peers: WorkerBus
  readonly telemetry: Telemetry | undefined
  readonly locate: Locate
  readonly storage: Storage
  readonly personsStorage: Storage | undefined
  readonly metrics: Metrics
  readonly failures: FailureCounters
  readonly now: () => Instant
}

async function startNode(environment: Environment): Promise<Halyard> {
  const { config, storage, personsStorage, metrics, telemetry, now } = environment
  const node = randomUUID()
  const opened = await openDatabase(environment)
  const { database, changes, ephemeral } = opened
  const evaluation = createEvaluation(environment, opened)
  const { serving } = evaluation
  const firstStart = await prepareFirstStart(environment, opened)
  const events = await startEvents(environment, opened, serving, node, () => app)
  const { plugins, ingest } = events
  const edges = createEdgeServices(environment, opened, evaluation, ingest)
  const changeStreams = createChangeStreams(changes, ephemeral)
  const control = createChangeControl(environment, database, plugins)
  const singleSignOn = createSingleSignOn({ ...control, database, secretBox: plugins.secretBox, config })
  const { scanner, outgoing } = control
  const emails = openEmails(config)

  let isDraining = false
  const app: FastifyInstance = createApp({
    ...environment,
    ...evaluation,
    ...firstStart,
    ...events,
    ...control,
    singleSignOn,
    database,
    changes,
    ephemeral,
    changeStreams,
    edges,
    readiness: {
      check: () => databaseReadiness(storage, () => warming.isDone(), personsStorage),
      isDraining: () => isDraining,
    },
    onCohortWork: () => onCohortWork(),
    tracing: telemetry?.tracing,
  })
  telemetry?.exportMetrics(metrics.registry)
  opened.followChanges()

  const onCohortWork = coalesce(async () => {
    if (config.schedulerSeconds > 0) await jobs.runDue(now())
  })
  const jobs = startBackgroundJobs({
    ...environment,
    ...control,
    database,
    ephemeral,
    node,
    secretBox: plugins.secretBox,
    emails,
    eventJobs: opened.eventsService.jobs,
    onCohortWork,
  })
  const sdkCalls = countSdkCalls(environment, database, serving)
  const warming = warmUp({ database, snapshots: serving.snapshots, changes, projectsMax: config.warmProjectsMax })

  return {
    app,
    database,
    changes,
    ...{ storage, personsStorage },
    serving,
    jobs,
    plugins,
    warm: () => warming.done(),
    ...firstStart,
    metrics,
    async drain() {
      isDraining = true
      serving.beginClosing()
      await Promise.all([serving.streams.drain(), changeStreams.drain(), edges.feed.drain()])
    },
    async close() {
      warming.stop()
      serving.beginClosing()
      await app.close()
      await ingest.drained()
      await sdkCalls.close()
      await scanner.close()
      await jobs.close()
      await outgoing.close()
      emails?.close()
      await plugins.close()
      opened.stopPolling()
      opened.eventsService.stop()
      serving.close()
      await opened.closeChannels()
      await personsStorage?.close()
      await storage.close()
    },
  }
}

type OpenedDatabase = Awaited<ReturnType<typeof openDatabase>>

function createEvaluation(
  { config, failures, now }: Environment,
  { database, changes, personChanges, secretKey }: OpenedDatabase,
) {
  const source = storedSource(database, changes, personChanges)
  const overrideSigner = createOverrideSigner(secretKey)
  const serving = createServing({
    source: { ...source, readOverrides: overrideSigner.read },
    now,
    limits: config,
    onRefreshFailed: () => failures.count('snapshot_refresh'),
    bodiesBytesMax: config.bodiesBytesMax,
  })
  return { source, overrideSigner, serving }
}

/** An empty database gets its first owner, organization and project. */
async function prepareFirstStart({ config, now }: Environment, { database, secretKey }: OpenedDatabase) {
  const passwords = createPasswords(config.passwordCost)
  const firstCredentials = createFirstCredentials(database, passwords, createSecretBox(secretKey))
  const operatorChoices = { email: config.ownerEmail, password: config.ownerPassword, key: config.bootstrapKey }
  const firstOwner = await bootstrap(
    database,
    passwords,
    operatorChoices,
    (tx, owner) => firstCredentials.store(tx, owner, operatorChoices),
    now(),
  )
  return { passwords, firstCredentials, firstOwner }
}

/** Ingestion and plugins need each other: events run through plugins, and plugins capture events. */
async function startEvents(
  { config, log, metrics, telemetry, locate, now }: Environment,
  { database, changes, ephemeral, secretKey }: OpenedDatabase,
  { snapshots, sdkCalls }: Serving,
  node: string,
  app: () => FastifyInstance,
) {
  const plugins = createPluginSystem({
    config,
    secretKey,
    database,
    changes,
    ephemeral,
    counters: createPluginCounters(metrics.registry),
    node,
    capture: (token, event) => ingest.receive({ token, ...event }, '/capture/', null),
    callApi: call => callInProcess(app(), call),
    locate,
    outgoingHeaders: telemetry?.tracing?.outgoingHeaders,
    now,
    onError: error => log.error({ err: error }, 'the plugin runtime failed'),
  })
  await plugins.runtime.start()
  const ingest: Ingest = createIngest({
    database,
    findProject: snapshots.forToken,
    pipeline: plugins.runtime.events,
    observer: createIngestMetrics(metrics.registry, log, () => ingest.waiting),
    eventsWaitingMax: config.eventsWaitingMax,
    noteLibrary: sdkCalls.noteLibrary,
    labelsOf: createEventLabels(token => snapshots.cached(token)?.flags),
    catchUp: changes.catchUp,
    now,
  })
  return { plugins, ingest }
}

/** What edges follow and where they send their events. */
function createEdgeServices(
  { metrics, now }: Environment,
  { database, changes }: OpenedDatabase,
  { source, serving: { snapshots } }: ReturnType<typeof createEvaluation>,
  ingest: Ingest,
) {
  const feed = createEdgeFeed(createStoredStates({ database, snapshots, changes }))
  watchFollowers(metrics.registry, () => feed.size)
  const { evaluated } = createEdgeCounters(metrics.registry)
  const batches = createBatchReceiver({ database, snapshots, ingest, onEvaluations: evaluated, now })
  return { feed, batches, subjects: source.subjects }
}

/** Writes that policies, freezes and plugins may hold back, and what these need to decide. */
function createChangeControl(
  { config, storage: main, personsStorage, telemetry, now }: Environment,
  database: Database,
  plugins: PluginSystem,
) {
  const storage = personsStorage ?? main
  const findCountedEvents = (projectId: number) => database.query(tx => tx.countedEvents.listLive(projectId))
  const scanner = createScanner(
    storage.sqlite
      ? {
          database: { kind: 'sqlite', path: storage.sqlite.path },
          handle: inMemory(storage.sqlite),
          findCountedEvents,
        }
      : { database: { kind: 'postgres', url: config.personsDatabaseUrl ?? config.databaseUrl }, findCountedEvents },
  )
  const outgoing = createGuardedClient({
    trustedOrigins: config.trustedOrigins,
    ...(telemetry?.tracing && { outgoingHeaders: telemetry.tracing.outgoingHeaders }),
  })
  const measure = (save: FlagSave) => measureImpact(database, scanner, save, now())
  const writes = createGatedWrites({ database, guard: plugins.guard, measure, now })
  return { scanner, outgoing, measure, writes }
}

const openEmails = (config: Config): EmailTransport | undefined => {
  const { smtpUrl, publicUrl } = config
  return smtpUrl && publicUrl ? createSmtpTransport(smtpUrl, senderOf(config, publicUrl)) : undefined
}

const countSdkCalls = ({ log, now }: Environment, database: Database, { sdkCalls }: Serving) =>
  startWritingSdkCalls({
    calls: sdkCalls,
    database,
    now,
    onError: error => log.warn({ event: 'sdk_usage_failed', err: error }, 'the calls of SDKs were not counted'),
  })

/** Only this thread can see a database that is in memory. */
const inMemory = ({ path, handle }: NonNullable<Storage['sqlite']>) => (path === ':memory:' ? handle : undefined)
