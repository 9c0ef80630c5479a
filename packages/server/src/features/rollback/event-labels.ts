import { createHash } from 'node:crypto'
import { compile, type Snapshot } from '@halyard/engine'
import { linearRegex } from '../../evaluation/linear-regex.ts'
import { dateOf } from '../../instant.ts'
import type { IncomingEvent } from '../events/event.ts'
import type { Flag } from '../flags/flag.ts'
import { type EventMetric, readConditions } from './condition.ts'

/** The name under which events are counted for a metric: their own, or one of the metric's when it looks at properties. */
export function labelOf({ event, properties }: Pick<EventMetric, 'event' | 'properties'>): string {
  if (properties.length === 0) return event
  const text = JSON.stringify([event, properties])
  return `$filtered/${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
}

type Flags = ReadonlyMap<number, Flag>

/** Finds the further names under which a project's events are counted. What is prepared lasts as long as the flags do. */
export function createEventLabels(
  flagsOf: (apiToken: string) => Flags | undefined,
): (project: { readonly apiToken: string }, event: IncomingEvent) => readonly string[] {
  const prepared = new WeakMap<Flags, ReadonlyMap<string, Snapshot>>()
  return (project, event) => {
    const flags = flagsOf(project.apiToken)
    if (!flags) return []
    const byEvent = prepared.get(flags) ?? prepare(flags)
    prepared.set(flags, byEvent)
    const metrics = byEvent.get(event.name)
    if (!metrics) return []
    const subject = { distinctId: event.distinctId, personProperties: event.properties }
    const results = [...metrics.evaluate(subject, { now: dateOf(event.at).getTime() })]
    return results.filter(([, { enabled }]) => enabled).map(([metric]) => metric.key)
  }
}

/** Filters on events are evaluated as filters on people are: each metric is a flag that is on for the events it counts. */
function prepare(flags: Flags): ReadonlyMap<string, Snapshot> {
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
