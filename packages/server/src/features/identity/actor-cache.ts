import { monotonicNow } from '../../concurrency/monotonic-clock.ts'
import type { Instant } from '../../instant.ts'
import { Problem } from '../../problem.ts'
import type { ChangeFeed } from '../../storage/changes/changes.ts'
import type { Actor } from '../../tenancy.ts'
import type { IdentityStore } from './identity-store.ts'
import { hashSecret } from './secret.ts'

/** The users behind personal API keys, cached so that polling clients do not cost a query each. */
export interface ActorCache {
  /** Raises `unauthenticated` for an invalid key, and `unavailable` for one that is not cached while the database is unavailable. */
  find(key: string): Promise<Actor>
  /** The cached actor of a key with this hash, without a query. */
  known(hash: string): Actor | undefined
  close(): void
}

interface CachedActor {
  readonly actor: Actor
  readonly expiresAt: Instant | null
  /** Monotonic milliseconds; afterwards the database is queried, and the entry is used only while that is unavailable. */
  readonly freshUntil: number
}

const actorsMax = 10_000
const freshMilliseconds = 30_000

/** Any change to users, memberships or keys clears the cache; age is the second guard. */
export function createActorCache(
  findActor: IdentityStore['findActor'],
  changes: Pick<ChangeFeed, 'subscribe'>,
  now: () => Instant,
): ActorCache {
  const known = new Map<string, CachedActor>()
  let generation = 0
  const clear = () => {
    generation += 1
    known.clear()
  }
  const unsubscribe = changes.subscribe(batch => {
    if (batch.some(({ topic }) => topic === 'identity')) clear()
  }, clear)

  async function lookUp(hash: string, cached: CachedActor | undefined): Promise<CachedActor | undefined> {
    const generationBefore = generation
    try {
      const found = await findActor(hash)
      if (!found) {
        known.delete(hash)
        return undefined
      }
      const { actor, key } = found
      const fresh = { actor, expiresAt: key.expiresAt, freshUntil: monotonicNow() + freshMilliseconds }
      if (known.size >= actorsMax) known.clear()
      if (generationBefore === generation) known.set(hash, fresh)
      return fresh
    } catch (error) {
      if (cached && error instanceof Problem && error.kind === 'unavailable') return cached
      throw error
    }
  }

  return {
    async find(key) {
      const hash = hashSecret(key)
      const cached = known.get(hash)
      const isFresh = cached && cached.freshUntil > monotonicNow()
      const found = isFresh ? cached : await lookUp(hash, cached)
      if (!found) throw invalidKey('This API key is not valid. It may have been revoked.')
      if (found.expiresAt !== null && found.expiresAt <= now()) {
        throw invalidKey('This API key has expired. Sign in again or create a new one.')
      }
      return found.actor
    },
    known(hash) {
      const cached = known.get(hash)
      if (!cached || cached.freshUntil <= monotonicNow()) return undefined
      return cached.expiresAt !== null && cached.expiresAt <= now() ? undefined : cached.actor
    },
    close: unsubscribe,
  }
}

const invalidKey = (message: string): Problem =>
  new Problem('unauthenticated', message, { code: 'authentication_failed' })
