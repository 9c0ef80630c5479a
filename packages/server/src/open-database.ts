import type { Config } from './config.ts'
import { createEventsService } from './features/events/clickhouse/events-service.ts'
import { findSecretKey } from './features/plugins/secrets/secret-key.ts'
import type { Instant } from './instant.ts'
import { watchAuditHeads } from './observability/audit-metrics.ts'
import type { FailureCounters } from './observability/failure-metrics.ts'
import type { Metrics } from './observability/metrics.ts'
import { watchChanges, watchStorage } from './observability/storage-metrics.ts'
import { createChangeFeed, endOf } from './storage/changes/change-feed.ts'
import { sqlChangeLog } from './storage/changes/change-log.sql.ts'
import { createEphemeralChanges } from './storage/changes/ephemeral-changes.ts'
import { sqlInstanceStore } from './storage/instance-store.sql.ts'
import { migrate } from './storage/migrations/migrate.ts'
import type { Storage } from './storage/open-storage.ts'
import { type ChangeChannel, listenForChanges, notifyChanges } from './storage/postgres/postgres-notify.ts'
import { createSecretBox } from './storage/secret-box.ts'
import { createSqlDatabase } from './storage/sql-database.ts'
import { untilDatabaseAnswers } from './storage/wait-for-database.ts'
import { clearStoreMemory, createStoreMemory, databaseOn, sqlStores } from './stores.ts'
import type { WorkerBus } from './worker-bus.ts'

type Log = Record<'info' | 'warn' | 'error', (details: object, message: string) => void>

interface Deps {
  readonly config: Config
  readonly log: Log
  readonly storage: Storage
  readonly peers: WorkerBus
  readonly metrics: Metrics
  readonly failures: FailureCounters
  readonly now: () => Instant
}

/** With LISTEN/NOTIFY, polling only makes up for lost notifications. */
const changePollMilliseconds = { notify: 1000, poll: 25 }

/** The migrated database, and the changes that this node exchanges with its siblings and with other nodes. */
export async function openDatabase(deps: Deps) {
  const { config, log, storage, metrics } = deps
  await untilDatabaseAnswers(storage.ping, config.databaseWaitSeconds, log)
  await migrateSchema(storage, log)
  watchStorage(metrics.registry, storage)
  const exchange = await createChangeExchange(deps)
  const secretKey = await findSecretKey(config.secretKey, storage.sqlite?.path, sqlInstanceStore(storage.kysely))
  const emailBox = config.smtpUrl && config.publicUrl ? createSecretBox(secretKey) : undefined
  const memory = createStoreMemory()
  exchange.changes.subscribe(
    () => {},
    () => clearStoreMemory(memory),
  )
  const eventsService = createEventsService({ config, registry: metrics.registry, log })
  const database = databaseOn(
    createSqlDatabase(
      storage,
      (db, end) => sqlStores(db, end, memory, config, emailBox, eventsService.events),
      exchange.announce,
      storage.writersMax,
    ),
  )
  watchAuditHeads(metrics.registry, () => database.read(tx => tx.audit.listHeads()))
  eventsService.start(database)
  return { database, secretKey, eventsService, ...exchange }
}

async function migrateSchema({ kysely, dialect }: Storage, log: Log): Promise<void> {
  const applied = await migrate(kysely, dialect, {
    onWait: wait =>
      log.warn(
        { event: 'migration_waiting', ...wait },
        'a migration waits until requests release its tables; retrying',
      ),
  })
  if (applied.length > 0) log.info({ event: 'schema_migrated', applied }, 'database schema migrated')
}

async function createChangeExchange({ config, log, storage, peers, metrics, failures, now }: Deps) {
  const changeLog = sqlChangeLog(storage.reader)
  const changes = createChangeFeed(changeLog, await endOf(changeLog), error =>
    log.error({ event: 'change_listener_failed', err: error }, 'a change listener failed'),
  )
  const isNotifying = config.changeChannel === 'notify'
  let channel: ChangeChannel | undefined
  let poll: NodeJS.Timeout | undefined
  const ephemeral = createEphemeralChanges({ bus: peers, send: message => channel?.send(message) ?? false })
  const publishChanges = async () => {
    if (!(await peers.publishChanges())) failures.count('worker_apply_timeout')
  }
  return {
    changes,
    ephemeral,
    /** Resolves when this process and its sibling workers have applied the changes. */
    async announce() {
      if (isNotifying && storage.pool && !channel?.notify()) {
        notifyChanges(storage.pool).catch(() => failures.count('change_notify'))
      }
      const applied = [changes.catchUp(), publishChanges()]
      await Promise.all(applied).catch(error => {
        failures.count('change_announce')
        throw error
      })
    },
    /** Applies what other nodes and the siblings write, from now on. */
    followChanges() {
      const reading = watchChanges(metrics.registry, changes, now)
      const wake = () => {
        changes.catchUp().then(reading.noteRead, () => failures.count('change_read'))
      }
      poll = setInterval(wake, config.changePollMilliseconds ?? changePollMilliseconds[config.changeChannel])
      peers.onChanges(changes.catchUp)
      if (!isNotifying || !storage.pool) return
      channel = listenForChanges(config.databaseUrl, {
        onChange: wake,
        onMessage: ephemeral.receive,
        onError: error =>
          log.warn({ event: 'change_channel_lost', err: error }, 'lost the change channel; reconnecting'),
      })
    },
    stopPolling: () => clearInterval(poll),
    async closeChannels() {
      ephemeral.close()
      await channel?.close()
    },
  }
}
