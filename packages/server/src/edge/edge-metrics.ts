import { Gauge, type Registry } from 'prom-client'
import { observeGauge, observeTotal } from '../observability/observed-metric.ts'
import type { EventSpool } from './event-spool.ts'
import type { ConnectionState, Following } from './follow-upstream.ts'
import type { Forwarding } from './forward-events.ts'
import type { Replica } from './replica.ts'

interface Watched {
  readonly replica: Replica
  readonly following: Following
  readonly spool: EventSpool
  readonly forwarding: Forwarding
}

const connectionStates: readonly ConnectionState[] = ['connecting', 'following', 'away', 'refused', 'rejected']

/** The metrics of an edge. */
export function watchEdge(registry: Registry, { replica, following, spool, forwarding }: Watched): void {
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number) => observeGauge(registry, name, help, read)
  const total = (name: string, help: string, read: () => number) => observeTotal(registry, name, help, read)
  new Gauge({
    name: 'halyard_edge_connection',
    help: '1 for the state that the connection to the upstream is in.',
    labelNames: ['state'],
    registers,
    collect() {
      for (const state of connectionStates) this.set({ state }, Number(state === following.connection))
    },
  })
  gauge(
    'halyard_edge_state_age_seconds',
    'Time since this edge last had the complete state of a connected upstream; -1 when never since the start.',
    () => (following.currentAt === undefined ? -1 : (Date.now() - following.currentAt) / 1000),
  )
  total('halyard_edge_connects_total', 'Attempts to follow the upstream.', () => following.connects)
  gauge('halyard_edge_projects', 'Projects that this edge serves.', () => replica.all().length)
  gauge('halyard_edge_state_bytes', 'Size of the state that this edge holds.', () => replica.bytes)
  gauge('halyard_edge_spool_bytes', 'What waits on disk for the upstream.', () => spool.bytes)
  total('halyard_edge_batches_forwarded_total', 'Batches that the upstream has taken.', () => forwarding.forwarded)
  total('halyard_edge_batches_dropped_total', 'Batches that the upstream will never accept.', () => forwarding.dropped)
  total('halyard_edge_spool_damaged_total', 'Lines on disk that could not be read.', () => spool.damaged)
}
