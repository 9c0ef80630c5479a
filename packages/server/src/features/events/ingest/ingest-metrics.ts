import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { IngestObserver } from './ingest.ts'

interface Log {
  warn(details: object, message: string): void
}

const reportMilliseconds = 10_000

/** Exports ingest metrics; dropped events are logged as well, at most every ten seconds. */
export function createIngestMetrics(registry: Registry, log: Log, waiting: () => number): IngestObserver {
  const registers = [registry]
  const received = new Counter({ name: 'halyard_events_received_total', help: 'Events received.', registers })
  const dropped = new Counter({
    name: 'halyard_events_dropped_total',
    help: 'Events acknowledged and dropped, by reason.',
    labelNames: ['reason'],
    registers,
  })
  const stored = new Counter({
    name: 'halyard_events_recorded_total',
    help: 'Events recorded durably.',
    registers,
  })
  const uncounted = new Counter({
    name: 'halyard_events_uncounted_total',
    help: 'Events recorded but not counted under their flag or name, by reason.',
    labelNames: ['reason'],
    registers,
  })
  const merges = new Counter({
    name: 'halyard_person_merges_total',
    help: 'Person merges requested by events, by outcome.',
    labelNames: ['outcome'],
    registers,
  })
  const refused = new Counter({
    name: 'halyard_event_facts_refused_total',
    help: 'Updates in events that exceed a limit: properties too large, or a sixth group type.',
    labelNames: ['reason'],
    registers,
  })
  const seconds = new Histogram({
    name: 'halyard_events_commit_seconds',
    help: 'Time to make a group of events durable.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  })
  new Gauge({
    name: 'halyard_events_waiting',
    help: 'Events received and not yet durable.',
    registers,
    collect() {
      this.set(waiting())
    },
  })

  let unreported = 0
  let reportedAt = 0
  function report(events: number): void {
    unreported += events
    if (Date.now() - reportedAt < reportMilliseconds) return
    log.warn({ events: unreported }, 'events dropped: ingest overloaded')
    reportedAt = Date.now()
    unreported = 0
  }

  return {
    received: events => received.inc(events),
    dropped(reason, events) {
      dropped.inc({ reason }, events)
      if (reason === 'overload') report(events)
    },
    committed(events, took, recorded, notCounted) {
      stored.inc(events)
      seconds.observe(took)
      for (const [reason, n] of notCounted) uncounted.inc({ reason }, n)
      for (const [outcome, n] of recorded.merges) merges.inc({ outcome }, n)
      if (recorded.refusedProperties > 0) refused.inc({ reason: 'properties_too_large' }, recorded.refusedProperties)
      if (recorded.refusedGroupTypes > 0) refused.inc({ reason: 'too_many_group_types' }, recorded.refusedGroupTypes)
    },
  }
}
