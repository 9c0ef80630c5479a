import { LRUCache } from 'lru-cache'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import { dayOf } from '../events/usage/usage.ts'

const dayMilliseconds = 24 * 60 * 60 * 1000
const projectsMax = 1000
/** The query reads two days of all flags of the project. */
const freshMilliseconds = 60_000
/** More than are shown, because some may be deleted. */
const keysMax = 50

export type MostCalled = (tx: Stores, projectId: number, now: Instant) => Promise<readonly string[]>

/** Keys of the flags evaluated most since yesterday, up to a minute old. */
export function createMostCalled(): MostCalled {
  const keysOf = new LRUCache<number, readonly string[]>({ max: projectsMax, ttl: freshMilliseconds })
  return async (tx, projectId, now) => {
    const cached = keysOf.get(projectId)
    if (cached) return cached
    const keys = await tx.usage.mostCalled(projectId, dayOf(plusMilliseconds(now, -dayMilliseconds)), keysMax)
    // The first evaluations appear at once.
    if (keys.length > 0) keysOf.set(projectId, keys)
    return keys
  }
}
