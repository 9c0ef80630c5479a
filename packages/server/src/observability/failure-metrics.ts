import { Counter, type Registry } from 'prom-client'

/** Background failures that Halyard recovers from, so that no response reports them. */
export type FailureKind =
  /** NOTIFY failed: other nodes read the change at their next poll. */
  | 'change_notify'
  /** This process could not apply its own committed change at once. */
  | 'change_announce'
  /** The change log could not be read. */
  | 'change_read'
  /** A sibling worker did not acknowledge a change in time. */
  | 'worker_apply_timeout'
  /** A changed project could not be read; the version in memory is still served. */
  | 'snapshot_refresh'

const kinds: readonly FailureKind[] = [
  'change_notify',
  'change_announce',
  'change_read',
  'worker_apply_timeout',
  'snapshot_refresh',
]

export interface FailureCounters {
  count(kind: FailureKind): void
}

export function createFailureCounters(registry: Registry): FailureCounters {
  const failures = new Counter({
    name: 'halyard_background_failures_total',
    help: 'Background failures that Halyard recovered from, by kind.',
    labelNames: ['kind'],
    registers: [registry],
  })
  for (const kind of kinds) failures.inc({ kind }, 0)
  return { count: kind => failures.inc({ kind }) }
}
