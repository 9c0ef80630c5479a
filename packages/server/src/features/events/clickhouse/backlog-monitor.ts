import { Counter, Gauge, type Registry } from 'prom-client'
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
  const age = () => (size?.oldestAt === undefined ? 0 : Math.max(0, (Date.now() - Date.parse(size.oldestAt)) / 1000))

  async function refresh(): Promise<void> {
    // Without the database nothing is appended either: the last size stays.
    size = (await measure?.().catch(() => undefined)) ?? size
  }

  const registers = [registry]
  /** Every node measures the same table. */
  const gauge = (name: string, help: string, value: (size: BacklogSize) => number) =>
    new Gauge({
      name,
      help,
      aggregator: 'max',
      registers,
      collect() {
        if (size) this.set(value(size))
      },
    })
  gauge('halyard_events_backlog_batches', 'Batches of counts that wait for ClickHouse.', ({ batches }) => batches)
  gauge('halyard_events_backlog_bytes', 'Bytes of counts that wait for ClickHouse.', ({ bytes }) => bytes)
  gauge('halyard_events_backlog_age_seconds', 'Age of the oldest counts that wait for ClickHouse.', age)
  const dropped = new Counter({
    name: 'halyard_events_backlog_dropped_total',
    help: 'Counts dropped because too many wait for ClickHouse (HALYARD_EVENTS_BACKLOG_BYTES_MAX).',
    registers,
  })
  const forwarded = new Counter({
    name: 'halyard_events_forwarded_blocks_total',
    help: 'Blocks of counts that ClickHouse stored.',
    registers,
  })
  const failures = new Counter({
    name: 'halyard_events_forward_failures_total',
    help: 'Attempts to send counts to ClickHouse that failed; they are repeated.',
    registers,
  })

  return {
    backlog: {
      get isFull() {
        return (size?.bytes ?? 0) >= bytesMax
      },
      noteDropped(counted) {
        dropped.inc(counted)
      },
    },
    noteForwarded() {
      forwarded.inc()
    },
    noteFailed() {
      failures.inc()
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
