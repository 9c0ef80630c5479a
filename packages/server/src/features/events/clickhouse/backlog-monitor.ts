import type { Registry } from 'prom-client'
import { observeGauge, observeTotal } from '../../../observability/observed-metric.ts'
import type { EventsDatabase } from './clickhouse-stores.ts'
import type { BacklogSize } from './event-backlog-store.sql.ts'

const measureMilliseconds = 5000

export interface BacklogMonitor {
  readonly backlog: EventsDatabase['backlog']
  noteForwarded(): void
  noteFailed(): void
  /** Starts to measure, regularly and in the background. */
  start(measure: () => Promise<BacklogSize>): void
  /** Resolves when the size is measured. */
  refresh(): Promise<void>
  stop(): void
}

/** Knows how much waits for ClickHouse, without a query per write. Exports it as metrics. */
export function createBacklogMonitor(registry: Registry, bytesMax: number): BacklogMonitor {
  let size: BacklogSize | undefined
  let measure: (() => Promise<BacklogSize>) | undefined
  let timer: NodeJS.Timeout | undefined
  let dropped = 0
  let forwarded = 0
  let failures = 0
  const age = () => (size?.oldestAt === undefined ? 0 : Math.max(0, (Date.now() - Date.parse(size.oldestAt)) / 1000))

  async function refresh(): Promise<void> {
    // Without the database nothing is appended either: the last size stays.
    size = (await measure?.().catch(() => undefined)) ?? size
  }

  const gauge = (name: string, help: string, value: (known: BacklogSize) => number) =>
    observeGauge(registry, name, help, () => size && value(size), 'max')
  gauge('halyard_events_backlog_batches', 'Batches of counts that wait for ClickHouse.', ({ batches }) => batches)
  gauge('halyard_events_backlog_bytes', 'Bytes of counts that wait for ClickHouse.', ({ bytes }) => bytes)
  gauge('halyard_events_backlog_age_seconds', 'Age of the oldest counts that wait for ClickHouse.', age)
  observeTotal(
    registry,
    'halyard_events_backlog_dropped_total',
    'Counts dropped because too many wait for ClickHouse (HALYARD_EVENTS_BACKLOG_BYTES_MAX).',
    () => dropped,
  )
  observeTotal(
    registry,
    'halyard_events_forwarded_blocks_total',
    'Blocks of counts that ClickHouse stored.',
    () => forwarded,
  )
  observeTotal(
    registry,
    'halyard_events_forward_failures_total',
    'Attempts to send counts to ClickHouse that failed; they are repeated.',
    () => failures,
  )

  return {
    backlog: {
      get isFull() {
        return (size?.bytes ?? 0) >= bytesMax
      },
      noteDropped(counted) {
        dropped += counted
      },
    },
    noteForwarded() {
      forwarded += 1
    },
    noteFailed() {
      failures += 1
    },
    start(how) {
      measure = how
      timer = setInterval(refresh, measureMilliseconds)
      timer.unref()
    },
    refresh,
    stop: () => clearInterval(timer),
  }
}
