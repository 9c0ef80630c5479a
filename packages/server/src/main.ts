import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { createEdgeFeed } from './api/edge/edge-feed.ts'
import { createBatchReceiver } from './api/edge/receive-batches.ts'
import { createStoredStates } from './api/edge/stored-states.ts'
import { createApp } from './app.ts'
import { coalesce } from './concurrency/coalesce.ts'
import type { Config } from './config.ts'
import { createOverrideSigner } from './evaluation/projects/signed-overrides.ts'
import { createScanner } from './evaluation/scan/scanner.ts'
import { warmUp } from './evaluation/warm-up.ts'
import { trimActivity } from './features/activity/trim-activity.ts'
import { createGatedWrites } from './features/change-control/gated-writes.ts'
import { changeRequestJob } from './features/change-control/requests/run-requests.ts'
import { scheduleJob } from './features/change-control/schedules/run-schedules.ts'
import { createCohortWork } from './features/cohorts/members/cohort-work.ts'
import type { Email } from './features/emails/email.ts'
import { emailJob } from './features/emails/send-emails.ts'
import { createSmtpTransport, senderOf } from './features/emails/smtp-transport.ts'
import { createIngest, type Ingest } from './features/events/ingest/ingest.ts'
import { createIngestMetrics } from './features/events/ingest/ingest-metrics.ts'
import { trimEvents } from './features/events/trim-events.ts'
import type { FlagSave } from './features/flags/flag-guard.ts'
import { createFirstCredentials, type FirstCredentials } from './features/identity/first-start/first-credentials.ts'
import type { FirstOwner } from './features/identity/first-start/first-owner.ts'
import { trimSignInFailures } from './features/identity/sign-in/login-throttle.ts'
import { createPasswords } from './features/identity/sign-in/password.ts'
import { measureImpact } from './features/impact/measure-impact.ts'
import { bootstrap } from './features/organizations/bootstrap.ts'
import { trimPersons } from './features/persons/retention/trim-persons.ts'
import { createPluginSystem, type PluginSystem } from './features/plugins/plugin-system.ts'
import { createPluginCounters } from './features/plugins/runtime/plugin-metrics.ts'
import { openGeoip } from './features/plugins/runtime/services/geoip.ts'
import { findSecretKey } from './features/plugins/secrets/secret-key.ts'
import { createEventLabels } from './features/rollback/event-labels.ts'
import { rollbackJob } from './features/rollback/roll-back.ts'
import { startWritingSdkCalls } from './features/sdk-usage/write-sdk-calls.ts'
import { webhookJob } from './features/webhooks/webhook-job.ts'
import { callInProcess } from './http/server/call-in-process.ts'
import { type Instant, instantOf } from './instant.ts'
import { createJobRunner, type JobRunner } from './jobs/job-runner.ts'
import { trimChanges } from './jobs/trim-changes.ts'
import { createEdgeCounters, watchFollowers } from './observability/edge-metrics.ts'
import { createFailureCounters } from './observability/failure-metrics.ts'
import { createJobMetrics } from './observability/job-metrics.ts'
import { createMetrics, type Metrics } from './observability/metrics.ts'
import { databaseReadiness } from './observability/operations-routes.ts'
import { watchChanges, watchStorage } from './observability/storage-metrics.ts'
import type { Telemetry } from './observability/telemetry/telemetry.ts'
import { createGuardedClient } from './outgoing/guarded-client.ts'
import { createServing, type Serving, storedSource } from './serving.ts'
import { createChangeFeed, endOf } from './storage/changes/change-feed.ts'
import { sqlChangeLog } from './storage/changes/change-log.sql.ts'
import type { ChangeFeed } from './storage/changes/changes.ts'
import { createEphemeralChanges } from './storage/changes/ephemeral-changes.ts'
import { sqlInstanceStore } from './storage/instance-store.sql.ts'
import { migrate } from './storage/migrations/migrate.ts'
import { openStorage, type Storage, type StorageOptions } from './storage/open-storage.ts'
import { type ChangeChannel, listenForChanges, notifyChanges } from './storage/postgres/postgres-notify.ts'
import { createSecretBox } from './storage/secret-box.ts'
import { createSqlDatabase } from './storage/sql-database.ts'
import { untilDatabaseAnswers } from './storage/wait-for-database.ts'
import { clearStoreMemory, createStoreMemory, type Database, sqlStores } from './stores.ts'
import { noWorkerBus, type WorkerBus } from './worker-bus.ts'

export interface Halyard {
  readonly app: FastifyInstance
  readonly database: Database
  readonly changes: ChangeFeed
  readonly storage: Storage
  readonly serving: Serving
  readonly jobs: JobRunner
  readonly plugins: PluginSystem
  /** Resolves when the projects are in memory, or after a bounded time. */
  warm(): Promise<void>
  /** Set when this start found an empty database. */
  readonly firstOwner: FirstOwner | undefined
  readonly firstCredentials: FirstCredentials
  readonly metrics: Metrics
  /** From now on `/_readyz` responds 503, so that load balancers choose another node. */
  drain(): void
  close(): Promise<void>
}

export interface HalyardOptions extends Pick<StorageOptions, 'wrapDialect'> {
  /** The sibling workers of this process. */
  readonly peers?: WorkerBus
  /** Closed by the caller, after `close`. */
  readonly telemetry?: Telemetry | undefined
}

/** With LISTEN/NOTIFY, polling only makes up for lost notifications. */
const changePollMilliseconds = { notify: 1000, poll: 25 }

/** Composition root: builds everything in order; `close` undoes it in reverse. */
export async function createHalyard(
  config: Config,
  log: FastifyBaseLogger,
  { peers = noWorkerBus, telemetry, ...storageOptions }: HalyardOptions = {},
): Promise<Halyard> {
  const now = (): Instant => instantOf(new Date())
  const locate = await openGeoip(config.geoipDatabase)
  const storage = openStorage(config.databaseUrl, {
    ...storageOptions,
    statementMillisecondsMax: config.statementMillisecondsMax,
    onConnectionError: error =>
      log.warn({ event: 'database_connection_lost', err: error }, 'a database connection was lost'),
  })
  try {
    await untilDatabaseAnswers(storage.ping, config.databaseWaitSeconds, log)
    const applied = await migrate(storage.kysely, storage.dialect, {
      onWait: wait =>
        log.warn(
          { event: 'migration_waiting', ...wait },
          'a migration waits until requests release its tables; retrying',
        ),
    })
    if (applied.length > 0) log.info({ event: 'schema_migrated', applied }, 'database schema migrated')

    const changeLog = sqlChangeLog(storage.reader)
    const changes = createChangeFeed(changeLog, await endOf(changeLog), error =>
      log.error({ event: 'change_listener_failed', err: error }, 'a change listener failed'),
    )
    const isNotifying = config.changeChannel === 'notify'
    let channel: ChangeChannel | undefined
    const ephemeral = createEphemeralChanges({ bus: peers, send: message => channel?.send(message) ?? false })
    const metrics = createMetrics(peers)
    const failures = createFailureCounters(metrics.registry)
    watchStorage(metrics.registry, storage)
    const publishChanges = async () => {
      if (!(await peers.publishChanges())) failures.count('worker_apply_timeout')
    }
    /** Resolves when this process and its sibling workers have applied the changes. */
    const announce = async () => {
      if (isNotifying && storage.pool && !channel?.notify()) {
        notifyChanges(storage.pool).catch(() => failures.count('change_notify'))
      }
      const applied = [changes.catchUp(), publishChanges()]
      await Promise.all(applied).catch(error => {
        failures.count('change_announce')
        throw error
      })
    }
    const secretKey = await findSecretKey(config.secretKey, storage.sqlite?.path, sqlInstanceStore(storage.kysely))
    const { smtpUrl, publicUrl } = config
    const emails = smtpUrl && publicUrl ? createSmtpTransport(smtpUrl, senderOf(config, publicUrl)) : undefined
    const emailBox = emails && createSecretBox(secretKey)
    const memory = createStoreMemory()
    changes.subscribe(
      () => {},
      () => clearStoreMemory(memory),
    )
    const database: Database = createSqlDatabase(
      storage,
      (db, end) => sqlStores(db, end, memory, config, emailBox),
      announce,
      storage.writersMax,
    )
    const source = storedSource(database, changes)
    const overrideSigner = createOverrideSigner(secretKey)
    const serving = createServing({
      source: { ...source, readOverrides: overrideSigner.read },
      now,
      limits: config,
      onRefreshFailed: () => failures.count('snapshot_refresh'),
      bodiesBytesMax: config.bodiesBytesMax,
    })
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
    const node = randomUUID()
    const plugins = createPluginSystem({
      config,
      secretKey,
      database,
      changes,
      ephemeral,
      counters: createPluginCounters(metrics.registry),
      node,
      capture: (token, event) => ingest.receive({ token, ...event }, '/capture/', null),
      callApi: call => callInProcess(app, call),
      locate,
      outgoingHeaders: telemetry?.tracing?.outgoingHeaders,
      now,
      onError: error => log.error({ err: error }, 'the plugin runtime failed'),
    })
    await plugins.runtime.start()

    let isDraining = false
    const readiness = {
      check: () => databaseReadiness(storage.ping, () => warming.isDone(), storage.health),
      isDraining: () => isDraining,
    }
    const ingest: Ingest = createIngest({
      database,
      findProject: serving.snapshots.forToken,
      pipeline: plugins.runtime.events,
      observer: createIngestMetrics(metrics.registry, log, () => ingest.waiting),
      eventsWaitingMax: config.eventsWaitingMax,
      noteLibrary: serving.sdkCalls.noteLibrary,
      labelsOf: createEventLabels(token => serving.snapshots.known(token)?.flags),
      now,
    })
    const { snapshots } = serving
    const feed = createEdgeFeed(createStoredStates({ database, snapshots, changes }))
    watchFollowers(metrics.registry, () => feed.size)
    const { evaluated } = createEdgeCounters(metrics.registry)
    const batches = createBatchReceiver({ database, snapshots, ingest, onEvaluations: evaluated, now })
    const scanner = createScanner(
      storage.sqlite
        ? { database: { kind: 'sqlite', path: storage.sqlite.path }, handle: inMemory(storage.sqlite) }
        : { database: { kind: 'postgres', url: config.databaseUrl } },
    )
    const onCohortWork = coalesce(async () => {
      if (config.schedulerSeconds > 0) await jobs.runDue(now())
    })
    const outgoing = createGuardedClient({
      trustedOrigins: config.trustedOrigins,
      ...(telemetry?.tracing && { outgoingHeaders: telemetry.tracing.outgoingHeaders }),
    })
    const measure = (save: FlagSave) => measureImpact(database, scanner, save, now())
    const writes = createGatedWrites({ database, guard: plugins.guard, measure, now })
    const app = createApp({
      config,
      database,
      changes,
      ephemeral,
      edges: { feed, batches, subjects: source.subjects },
      firstCredentials,
      passwords,
      ingest,
      log,
      metrics,
      peers,
      plugins,
      overrideSigner,
      onCohortWork,
      readiness,
      scanner,
      serving,
      tracing: telemetry?.tracing,
      writes,
      outgoing,
      measure,
      now,
    })
    telemetry?.exportMetrics(metrics.registry)

    const reading = watchChanges(metrics.registry, changes, now)
    const wake = () => {
      changes.catchUp().then(reading.noteRead, () => failures.count('change_read'))
    }
    const poll = setInterval(wake, config.changePollMilliseconds ?? changePollMilliseconds[config.changeChannel])
    peers.onChanges(changes.catchUp)
    if (isNotifying && storage.pool) {
      channel = listenForChanges(config.databaseUrl, {
        onChange: wake,
        onMessage: ephemeral.receive,
        onError: error =>
          log.warn({ event: 'change_channel_lost', err: error }, 'lost the change channel; reconnecting'),
      })
    }

    const onEmailFailure = ({ id, recipient, attempts }: Email, error: unknown, isFinal: boolean) =>
      log.warn(
        { event: isFinal ? 'email_given_up' : 'email_failed', err: error, email: id, recipient, attempts },
        'an email could not be sent',
      )
    const jobs = createJobRunner({
      database,
      node,
      jobs: [
        trimEvents,
        trimChanges,
        trimSignInFailures,
        trimPersons(config.personDays),
        ...(config.activityDays === undefined ? [] : [trimActivity(config.activityDays)]),
        createCohortWork({ scanner, ephemeral, now, onMore: onCohortWork }),
        rollbackJob((flag, error) => log.warn({ err: error, flag: flag.id }, 'a rollback failed')),
        changeRequestJob(writes, (request, error) =>
          log.warn({ err: error, changeRequest: request.id }, 'a change request could not be applied'),
        ),
        webhookJob({ outgoing, secretBox: plugins.secretBox }),
        ...(emails && publicUrl ? [emailJob({ transport: emails, publicUrl, onFailure: onEmailFailure })] : []),
        scheduleJob((change, error) => log.warn({ err: error, change: change.id }, 'a scheduled change failed')),
      ],
      now,
      everyMilliseconds: config.schedulerSeconds * 1000,
      onError: (job, error) => log.error({ event: 'job_failed', err: error, job }, 'a job failed'),
      onRun: createJobMetrics(metrics.registry),
    })

    const sdkCalls = startWritingSdkCalls({
      calls: serving.sdkCalls,
      database,
      now,
      onError: error => log.warn({ event: 'sdk_usage_failed', err: error }, 'the calls of SDKs were not counted'),
    })
    const warming = warmUp({
      database,
      snapshots: serving.snapshots,
      changes,
      projectsMax: config.warmProjectsMax,
    })

    return {
      app,
      database,
      changes,
      storage,
      serving,
      jobs,
      plugins,
      warm: () => warming.done(),
      firstOwner,
      firstCredentials,
      metrics,
      drain() {
        isDraining = true
        serving.beginClosing()
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
        clearInterval(poll)
        serving.close()
        ephemeral.close()
        await channel?.close()
        await storage.close()
      },
    }
  } catch (error) {
    await storage.close()
    throw error
  }
}

/** Only this thread can see a database that is in memory. */
const inMemory = ({ path, handle }: NonNullable<Storage['sqlite']>) => (path === ':memory:' ? handle : undefined)
