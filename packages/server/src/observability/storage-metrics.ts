import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Instant } from '../instant.ts'
import { dateOf } from '../instant.ts'
import type { ChangeFeed } from '../storage/changes/changes.ts'
import type { Storage } from '../storage/open-storage.ts'
import { type Aggregation, observeGauge, observeGauges, observeTotals } from './observed-metric.ts'

/** The size of a database changes slowly, and PostgreSQL reads the sizes of all its files for it. */
const sizeMilliseconds = 60_000

/** By the value of the label `database`; `persons` only when they have one of their own. */
type WatchedStorages = Readonly<Partial<Record<'main' | 'persons', Pick<Storage, 'pool' | 'health' | 'sizeBytes'>>>>

/** Connections, size and writes of each database. */
export function watchStorages(registry: Registry, storages: WatchedStorages): void {
  const watched = Object.entries(storages).map(([database, storage]) => ({
    database,
    ...storage,
    readSize: createSizeReader(storage.sizeBytes),
  }))
  type Watched = (typeof watched)[number]
  /** A series for each database; undefined leaves it out. */
  const observe = (name: string, help: string, read: (one: Watched) => number | undefined, how?: Aggregation) => {
    const readAll = () => Object.fromEntries(watched.map(one => [one.database, read(one)]))
    observeGauges(registry, name, help, 'database', readAll, how)
  }
  new Gauge({
    name: 'halyard_database_pool_connections',
    help: 'PostgreSQL: open connections by state.',
    labelNames: ['database', 'state'],
    registers: [registry],
    collect() {
      for (const { database, pool } of watched) {
        if (!pool) continue
        this.set({ database, state: 'idle' }, pool.idleCount)
        this.set({ database, state: 'busy' }, pool.totalCount - pool.idleCount)
      }
    },
  })
  observe(
    'halyard_database_pool_waiting',
    'PostgreSQL: queries that wait for a connection.',
    ({ pool }) => pool?.waitingCount,
  )
  observe('halyard_database_size_bytes', 'Size of the database, at most a minute old.', one => one.readSize(), 'max')
  new Counter({
    name: 'halyard_database_write_failures_total',
    help: 'Writes that the database could not do, by kind.',
    labelNames: ['database', 'kind'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { database, health } of watched)
        for (const [kind, count] of Object.entries(health.writeFailures)) this.inc({ database, kind }, count)
    },
  })
  observe(
    'halyard_database_disk_full',
    '1 while writes fail because the disk is full.',
    ({ health }) => Number(health.diskFault === 'full'),
    'max',
  )
  observeTotals(
    registry,
    'halyard_changes_delayed_total',
    'Committed changes that could not be read back at once; the next poll applies them.',
    'database',
    () => Object.fromEntries(watched.map(({ database, health }) => [database, health.delayedChanges])),
  )
}

/** Reads in the background, so that a scrape never waits for the database. */
function createSizeReader(read: () => Promise<number>): () => number | undefined {
  let bytes: number | undefined
  let readAt = Number.NEGATIVE_INFINITY
  const refresh = () => {
    readAt = performance.now()
    read().then(
      size => {
        bytes = size
      },
      () => {
        bytes = undefined
      },
    )
  }
  refresh()
  return () => {
    if (performance.now() - readAt > sizeMilliseconds) refresh()
    return bytes
  }
}

/** Notes whenever the change log was read to its end. */
export interface ChangeMetrics {
  noteRead(): void
}

/** How current this process is. Must subscribe after everything that applies changes. */
export function watchChanges(
  registry: Registry,
  changes: Pick<ChangeFeed, 'subscribe'>,
  now: () => Instant,
): ChangeMetrics {
  const { noteRead, age } = createAge()
  const help = 'Time since this process last verified that its projects in memory are current.'
  observeGauge(registry, 'halyard_snapshot_age_seconds', help, age, 'max')
  const delay = new Histogram({
    name: 'halyard_change_propagation_seconds',
    help: 'Time from a change, by the clock of the node that made it, until this process has applied it.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [registry],
  })
  changes.subscribe(
    batch => {
      const time = dateOf(now()).getTime()
      for (const { at } of batch) delay.observe(Math.max(0, (time - dateOf(at).getTime()) / 1000))
    },
    () => {},
  )
  return { noteRead }
}

/** The same for persons in memory, whose changes are read from a database of their own. */
export function watchPersonChanges(registry: Registry, isSeparate: boolean): ChangeMetrics {
  const { noteRead, age } = createAge()
  observeGauge(
    registry,
    'halyard_person_cache_age_seconds',
    'With PERSONS_DATABASE_URL: time since this process last verified that its persons in memory are current.',
    isSeparate ? age : () => undefined,
    'max',
  )
  return { noteRead }
}

function createAge() {
  let readAt = performance.now()
  return {
    noteRead() {
      readAt = performance.now()
    },
    age: () => (performance.now() - readAt) / 1000,
  }
}
