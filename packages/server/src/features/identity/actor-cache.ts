import { InvalidatedCache } from '../../concurrency/invalidated-cache.ts'
import { monotonicNow } from '../../concurrency/monotonic-clock.ts'
import type { Instant } from '../../instant.ts'
import { Problem } from '../../problem.ts'
import type { ChangeFeed } from '../../storage/changes/changes.ts'
import type { Actor } from '../../tenancy.ts'
import type { IdentityStore } from './identity-store.ts'
import { hashSecret } from './secret.ts'

/** The user of a personal API key, cached for a while so that polling clients do not cost a query each. */
export interface ActorCache {
  /** Raises `unauthenticated` for a key that is not valid, and `unavailable` when it is not cached and the database is unavailable. */
  find(key: string): Promise<Actor>
  /** The cached user of a key with this hash. */
  known(hash: string): Actor | undefined
  close(): void
}

interface Known {
  readonly actor: Actor
  readonly expiresAt: Instant | null
  /** Milliseconds; afterwards the database is queried again, and the cached value is used only while that is unavailable. */
  readonly freshUntil: number
}

const actorsMax = 10_000
const freshMilliseconds = 30_000

/** Any change to users, their memberships or keys empties the cache; age is the second guard. */
export function createActorCache(
  findActor: IdentityStore['findActor'],
  changes: Pick<ChangeFeed, 'subscribe'>,
  now: () => Instant,
): ActorCache {
  const cache = new InvalidatedCache<Known>({ sizeMax: actorsMax })
  const unsubscribe = changes.subscribe(
    batch => {
      if (batch.some(({ topic }) => topic === 'identity')) cache.clear()
    },
    () => cache.clear(),
  )

  async function lookUp(hash: string, cached: Known | undefined): Promise<Known | undefined> {
    try {
      return await cache.load(hash, async () => {
        const found = await findActor(hash)
        const freshUntil = monotonicNow() + freshMilliseconds
        return found && { actor: found.actor, expiresAt: found.key.expiresAt, freshUntil }
      })
    } catch (error) {
      if (cached && error instanceof Problem && error.kind === 'unavailable') return cached
      throw error
    }
  }

  return {
    async find(key) {
      const hash = hashSecret(key)
      const cached = cache.peek(hash)
      const isFresh = cached && cached.freshUntil > monotonicNow()
      const found = isFresh ? cached : await lookUp(hash, cached)
      if (!found) throw invalidKey('This API key is not valid. It may have been revoked.')
      if (found.expiresAt !== null && found.expiresAt <= now()) {
        throw invalidKey('This API key has expired. Sign in again or create a new one.')
      }
      return found.actor
    },
    known(hash) {
      const cached = cache.peek(hash)
      if (!cached || cached.freshUntil <= monotonicNow()) return undefined
      return cached.expiresAt !== null && cached.expiresAt <= now() ? undefined : cached.actor
    },
    close: unsubscribe,
  }
}

const invalidKey = (message: string): Problem =>
  new Problem('unauthenticated', message, { code: 'authentication_failed' })
