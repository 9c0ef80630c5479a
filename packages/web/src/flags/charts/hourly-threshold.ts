import type { RollbackCondition } from '../schedule/rollback-condition.ts'

/** The threshold as a count per hour; undefined for a ratio and for events that are filtered by properties. */
export function hourlyThreshold({
  eventMath,
  properties,
  threshold,
  windowMinutes,
}: Pick<RollbackCondition, 'eventMath' | 'properties' | 'threshold' | 'windowMinutes'>): number | undefined {
  if (eventMath === 'per' || properties.length > 0) return undefined
  return eventMath === 'rate' ? threshold * 60 : (threshold * 60) / windowMinutes
}
