import type { Config } from './config.ts'
import { noteRecording } from './features/cohorts/behavior/recording-start.ts'
import { createEventsService } from './features/events/clickhouse/events-service.ts'
import { findSecretKey } from './features/plugins/secrets/secret-key.ts'
import type { Instant } from './instant.ts'
import { watchAuditHeads } from './observability/audit-metrics.ts'
import type { FailureCounters } from './observability/failure-metrics.ts'
import type { Metrics } from './observability/metrics.ts'
import { watchChanges, watchPersonChanges, watchStorages } from './observability/storage-metrics.ts'
import { bindPersons, checkOwner } from './storage/bind-persons.ts'
import { createChangeFeed, endOf } from './storage/changes/change-feed.ts'
import { sqlChangeLog } from './storage/changes/change-log.sql.ts'
import { createEphemeralChanges } from './storage/changes/ephemeral-changes.ts'
import { sqlInstanceStore } from './storage/instance-store.sql.ts'
import { migrate } from './storage/migrations/migrate.ts'
import type { Migration } from './storage/migrations/migration.ts'
import type { Storage } from './storage/open-storage.ts'
import { personsMigrations } from './storage/persons-migrations/persons-migrations.ts'
import { type ChangeChannel, listenForChanges, notifyChanges } from './storage/postgres/postgres-notify.ts'
import { createSecretBox } from './storage/secret-box.ts'
import { skipKnownIds } from './storage/skip-known-ids.sql.ts'
import { createSqlDatabase } from './storage/sql-database.ts'
import { untilDatabaseAnswers } from './storage/wait-for-database.ts'
import { clearStoreMemory, createStoreMemory, databaseOn, sqlStores } from './stores.ts'
import type { WorkerBus } from './worker-bus.ts'

type Log = Record<'info' | 'warn' | 'error', (details: object, message: string) => void>

interface Deps {
  readonly config: Config
  readonly log: Log
  readonly storage: Storage
  /** The database of persons when it is one of its own. */
  readonly personsStorage: Storage | undefined
  readonly peers: WorkerBus
  readonly metrics: Metrics
  readonly failures: FailureCounters
  readonly now: () => Instant
}

/** With LISTEN/NOTIFY, polling only makes up for lost notifications. */
const changePollMilliseconds = { notify: 1000, poll: 25 }

/** The migrated database, and the changes that this node exchanges with its siblings and with other nodes. */
export async function openDatabase(deps: Deps) {
  const { config, log, storage, personsStorage, metrics } = deps
  await untilDatabaseAnswers(storage.ping, config.databaseWaitSeconds, log)
  if (personsStorage) await untilDatabaseAnswers(personsStorage.ping, config.databaseWaitSeconds, log)
  await checkOwner(storage, personsStorage)
  await migrateSchema(storage, log)
  if (personsStorage) await migrateSchema(personsStorage, log, personsMigrations)
  await bindPersons(storage, personsStorage)
  if (personsStorage) await skipKnownIds(storage, personsStorage)
  watchStorages(metrics.registry, { main: storage, ...(personsStorage && { persons: personsStorage }) })
  const exchange = await createChangeExchange(deps)
  const instance = sqlInstanceStore(storage.kysely)
  const secretKey = await findSecretKey(config.secretKey, storage.sqlite?.path, instance)
  await noteRecording(
    instance,
    work => storage.kysely.transaction().execute(tx => work(sqlInstanceStore(tx))),
    config.eventsUrl?.recordsPersonEvents ?? false,
    deps.now(),
  )
  const emailBox = config.smtpUrl && config.publicUrl ? createSecretBox(secretKey) : undefined
  const memory = createStoreMemory()
  exchange.main.changes.subscribe(
    () => {},
    () => clearStoreMemory(memory),
  )
  const eventsService = createEventsService({ config, registry: metrics.registry, log })
  const on = ({ announce }: { readonly announce: () => Promise<void> }, storage: Storage) =>
    createSqlDatabase(
      storage,
      (db, end) => sqlStores(db, end, memory, config, emailBox, eventsService.events),
      announce,
      storage.writersMax,
    )
  const { main, persons } = exchange
  const database = databaseOn(on(main, storage), persons && personsStorage && on(persons, personsStorage))
  watchAuditHeads(metrics.registry, () => database.read(tx => tx.audit.listHeads()))
  eventsService.start(database)
  return {
    database,
    secretKey,
    eventsService,
    changes: exchange.main.changes,
    personChanges: (exchange.persons ?? exchange.main).changes,
    ephemeral: exchange.ephemeral,
    followChanges: exchange.followChanges,
    stopPolling: exchange.stopPolling,
    closeChannels: exchange.closeChannels,
  }
}

async function migrateSchema({ kysely, dialect }: Storage, log: Log, steps?: readonly Migration[]): Promise<void> {
  const applied = await migrate(kysely, dialect, {
    steps,
    onWait: wait =>
      log.warn(
        { event: 'migration_waiting', ...wait },
        'a migration waits until requests release its tables; retrying',
      ),
  })
  if (applied.length > 0) log.info({ event: 'schema_migrated', applied }, 'database schema migrated')
}

/** The change log of one database, and how nodes wake each other to read it. */
async function createChannel({ config, log, failures }: Deps, { reader, pool }: Storage, url: string) {
  const changeLog = sqlChangeLog(reader)
  const changes = createChangeFeed(changeLog, await endOf(changeLog), error =>
    log.error({ event: 'change_listener_failed', err: error }, 'a change listener failed'),
  )
  const isNotifying = config.changeChannel === 'notify'
  let channel: ChangeChannel | undefined
  let poll: NodeJS.Timeout | undefined
  return {
    changes,
    /** Wakes the other nodes. */
    notify() {
      if (isNotifying && pool && !channel?.notify()) notifyChanges(pool).catch(() => failures.count('change_notify'))
    },
    send: (message: string): boolean => channel?.send(message) ?? false,
    /** Applies what other nodes write, from now on. */
    follow(onRead: () => void, onMessage: (message: string) => void) {
      const wake = () => {
        changes.catchUp().then(onRead, () => failures.count('change_read'))
      }
      poll = setInterval(wake, config.changePollMilliseconds ?? changePollMilliseconds[config.changeChannel])
      if (!isNotifying || !pool) return
      channel = listenForChanges(url, {
        onChange: wake,
        onMessage,
        onError: error =>
          log.warn({ event: 'change_channel_lost', err: error }, 'lost the change channel; reconnecting'),
      })
    },
    stopPolling: () => clearInterval(poll),
    close: async () => channel?.close(),
  }
}

async function createChangeExchange(deps: Deps) {
  const { config, storage, personsStorage, peers, metrics, failures, now } = deps
  const mainChannel = await createChannel(deps, storage, config.databaseUrl)
  const personsChannel = personsStorage && (await createChannel(deps, personsStorage, config.personsDatabaseUrl!))
  const ephemeral = createEphemeralChanges({ bus: peers, send: mainChannel.send })
  const publishChanges = async () => {
    if (!(await peers.publishChanges())) failures.count('worker_apply_timeout')
  }
  /** Resolves when this process and its sibling workers have applied the changes. */
  const announcing = (channel: typeof mainChannel) => async () => {
    channel.notify()
    await Promise.all([channel.changes.catchUp(), publishChanges()]).catch(error => {
      failures.count('change_announce')
      throw error
    })
  }
  const channels = [mainChannel, ...(personsChannel ? [personsChannel] : [])]
  return {
    main: { ...mainChannel, announce: announcing(mainChannel) },
    persons: personsChannel && { ...personsChannel, announce: announcing(personsChannel) },
    ephemeral,
    /** Applies what other nodes and the siblings write, from now on. */
    followChanges() {
      const personsRead = watchPersonChanges(metrics.registry, personsChannel !== undefined)
      mainChannel.follow(watchChanges(metrics.registry, mainChannel.changes, now).noteRead, ephemeral.receive)
      personsChannel?.follow(personsRead.noteRead, () => {})
      peers.onChanges(async () => {
        const [main] = await Promise.allSettled(channels.map(({ changes }) => changes.catchUp()))
        // A database of persons that is away must not delay what siblings write to the main one; polling makes up for it.
        if (main?.status === 'rejected') throw main.reason
      })
    },
    stopPolling() {
      for (const channel of channels) channel.stopPolling()
    },
    async closeChannels() {
      ephemeral.close()
      for (const channel of channels) await channel.close()
    },
  }
}
