import { Gauge, Histogram, type Registry } from 'prom-client'
import type { Instant } from '../instant.ts'
import { dateOf } from '../instant.ts'
import type { ChangeFeed } from '../storage/changes/changes.ts'
import type { Storage } from '../storage/open-storage.ts'
import { observeGauge, observeTotal, observeTotals } from './observed-metric.ts'

/** The size of a database changes slowly, and PostgreSQL reads the sizes of all its files for it. */
const sizeMilliseconds = 60_000

/** Connections, size and writes of the database. */
export function watchStorage(registry: Registry, storage: Pick<Storage, 'pool' | 'health' | 'sizeBytes'>): void {
  const { pool, health } = storage
  new Gauge({
    name: 'halyard_database_pool_connections',
    help: 'PostgreSQL: open connections by state.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      if (!pool) return
      this.set({ state: 'idle' }, pool.idleCount)
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount)
    },
  })
  observeGauge(
    registry,
    'halyard_database_pool_waiting',
    'PostgreSQL: queries that wait for a connection.',
    () => pool?.waitingCount,
  )
  observeGauge(
    registry,
    'halyard_database_size_bytes',
    'Size of the database, at most a minute old.',
    createSizeReader(storage.sizeBytes),
    'max',
  )
  observeTotals(
    registry,
    'halyard_database_write_failures_total',
    'Writes that the database could not do, by kind.',
    'kind',
    () => health.writeFailures,
  )
  observeGauge(
    registry,
    'halyard_database_disk_full',
    '1 while writes fail because the disk is full.',
    () => Number(health.diskFault === 'full'),
    'max',
  )
  observeTotal(
    registry,
    'halyard_changes_delayed_total',
    'Committed changes that could not be read back at once; the next poll applies them.',
    () => health.delayedChanges,
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
  let readAt = performance.now()
  observeGauge(
    registry,
    'halyard_snapshot_age_seconds',
    'Time since this process last verified that its projects in memory are current.',
    () => (performance.now() - readAt) / 1000,
    'max',
  )
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
  return {
    noteRead() {
      readAt = performance.now()
    },
  }
}
