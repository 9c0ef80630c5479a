import { monotonicNow } from '../../concurrency/monotonic-clock.ts'
import type { Instant } from '../../instant.ts'
import { Problem } from '../../problem.ts'
import type { ChangeFeed } from '../../storage/changes/changes.ts'
import { InvalidatedCache } from '../../storage/changes/invalidated-cache.ts'
import type { Actor } from '../../tenancy.ts'
import type { IdentityStore } from './identity-store.sql.ts'
import { hashSecret } from './secret.ts'

/** The user of a personal API key, cached for a while so that polling clients do not cost a query each. */
export interface ActorCache {
  /**
   * Raises `unauthenticated` for a key that is not valid, `unavailable` when it is not cached and the database is unavailable, and `forbidden`
   * for a sign-in that lacks a required second factor, unless it is to set one up.
   */
  find(key: string, isForSetUp?: boolean): Promise<Actor>
  close(): void
}

interface Known {
  readonly actor: Actor
  readonly expiresAt: Instant | null
  /** Milliseconds; afterwards the database is queried again, and the cached value is used only while that is unavailable. */
  readonly freshUntil: number
}

const actorsMax = 10_000
const refusedMax = 1000
const freshMilliseconds = 30_000

/** Any change to users, their memberships or keys empties the cache; age is the second guard. */
export function createActorCache(
  findActor: IdentityStore['findActor'],
  changes: Pick<ChangeFeed, 'subscribe'>,
  now: () => Instant,
): ActorCache {
  const cache = new InvalidatedCache<Known>({ sizeMax: actorsMax })
  /** Until when a key is not looked up again. Apart from the others, so that guessed keys do not evict valid ones. */
  const refusedUntil = new InvalidatedCache<number>({ sizeMax: refusedMax })
  let clears = 0
  const clear = () => {
    clears += 1
    cache.clear()
    refusedUntil.clear()
  }
  const unsubscribe = changes.subscribe(batch => {
    if (batch.some(({ topic }) => topic === 'identity')) clear()
  }, clear)

  async function lookUp(hash: string, cached: Known | undefined): Promise<Known | undefined> {
    try {
      return await cache.load(hash, async () => {
        const row = await findActor(hash)
        const freshUntil = monotonicNow() + freshMilliseconds
        return row && { actor: row.actor, expiresAt: row.key.expiresAt, freshUntil }
      })
    } catch (error) {
      if (cached && error instanceof Problem && error.kind === 'unavailable') return cached
      throw error
    }
  }

  async function lookUpOnce(hash: string, cached: Known | undefined): Promise<Known | undefined> {
    if ((refusedUntil.peek(hash) ?? 0) > monotonicNow()) return undefined
    const clearsBefore = clears
    const holder = await lookUp(hash, cached)
    if (!holder && clears === clearsBefore) refusedUntil.set(hash, monotonicNow() + freshMilliseconds)
    return holder
  }

  return {
    async find(key, isForSetUp = false) {
      const hash = hashSecret(key)
      const cached = cache.peek(hash)
      const isFresh = cached && cached.freshUntil > monotonicNow()
      const holder = isFresh ? cached : await lookUpOnce(hash, cached)
      if (!holder) throw invalidKey('This API key is not valid. It may have been revoked.')
      if (holder.expiresAt !== null && holder.expiresAt <= now()) {
        throw invalidKey('This API key has expired. Sign in again or create a new one.')
      }
      if (holder.actor.lacksSecondFactor && !isForSetUp) throw lacksFactor()
      return holder.actor
    },
    close: unsubscribe,
  }
}

const lacksFactor = (): Problem =>
  new Problem('forbidden', 'Your organization requires a second factor. Set one up in your account first.', {
    code: 'second_factor_required',
  })

const invalidKey = (message: string): Problem =>
  new Problem('unauthenticated', message, { code: 'authentication_failed' })
