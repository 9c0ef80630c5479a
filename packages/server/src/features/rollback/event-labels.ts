import { createHash } from 'node:crypto'
import { compile, type Snapshot } from '@halyard/engine'
import type { IncomingEvent } from '../../domain/event.ts'
import type { Flag } from '../../domain/flag.ts'
import { linearRegex } from '../../evaluation/linear-regex.ts'
import { dateOf } from '../../instant.ts'
import { type EventMetric, readConditions } from './condition.ts'

/** The name under which events are counted for a metric: the event name, or a hash of the metric if it filters by properties. */
export function labelOf({ event, properties }: Pick<EventMetric, 'event' | 'properties'>): string {
  if (properties.length === 0) return event
  const text = JSON.stringify([event, properties])
  return `$filtered/${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
}

type Flags = ReadonlyMap<number, Flag>

/** Returns the additional names under which an event is counted. Compiled metrics are cached per set of flags. */
export function createEventLabels(
  flagsOf: (apiToken: string) => Flags | undefined,
): (project: { readonly apiToken: string }, event: IncomingEvent) => readonly string[] {
  const compiled = new WeakMap<Flags, ReadonlyMap<string, Snapshot>>()
  return (project, event) => {
    const flags = flagsOf(project.apiToken)
    if (!flags) return []
    const byEvent = compiled.get(flags) ?? compileMetrics(flags)
    compiled.set(flags, byEvent)
    const metrics = byEvent.get(event.name)
    if (!metrics) return []
    const subject = { distinctId: event.distinctId, personProperties: event.properties }
    const results = [...metrics.evaluate(subject, { now: dateOf(event.at).getTime() })]
    return results.filter(([, { enabled }]) => enabled).map(([metric]) => metric.key)
  }
}

/** Event filters use the flag engine: each metric becomes a flag that is on for the events it counts. */
function compileMetrics(flags: Flags): ReadonlyMap<string, Snapshot> {
  const byEvent = new Map<string, Map<string, EventMetric>>()
  for (const flag of flags.values()) {
    for (const { condition } of readConditions(flag.rollbackConditions)) {
      const metric = condition?.metric
      if (metric?.kind !== 'events' || metric.properties.length === 0) continue
      const metrics = byEvent.get(metric.event) ?? new Map<string, EventMetric>()
      byEvent.set(metric.event, metrics.set(labelOf(metric), metric))
    }
  }
  return new Map([...byEvent].map(([event, metrics]) => [event, snapshotOf(metrics)]))
}

const snapshotOf = (metrics: ReadonlyMap<string, EventMetric>): Snapshot =>
  compile(
    {
      flags: [...metrics].map(([key, { properties }], id) => ({
        id,
        key,
        active: true,
        filters: { groups: [{ properties }] },
      })),
      cohorts: [],
      groupTypes: {},
      propertyMatchingVersion: 2,
    },
    { regex: linearRegex },
  )
