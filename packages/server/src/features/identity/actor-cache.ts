import { monotonicNow } from '../../concurrency/monotonic-clock.ts'
import type { Instant } from '../../instant.ts'
import { Problem } from '../../problem.ts'
import type { ChangeFeed } from '../../storage/changes/changes.ts'
import type { Actor } from '../../tenancy.ts'
import type { IdentityStore } from './identity-store.ts'
import { hashSecret } from './secret.ts'

/** Who is behind a personal API key, remembered for a while so that polling clients do not cost a query each. */
export interface ActorCache {
  /** Raises `unauthenticated` for a key that is not valid, and `unavailable` when it is not remembered and the database is away. */
  find(key: string): Promise<Actor>
  /** Who is remembered for a key with this hash, without asking anybody. */
  known(hash: string): Actor | undefined
  close(): void
}

interface Known {
  readonly actor: Actor
  readonly expiresAt: Instant | null
  /** Milliseconds; when it is past, the database is asked again, and only its absence lets the memory stand. */
  readonly freshUntil: number
}

const actorsMax = 10_000
const freshMilliseconds = 30_000

/** Any change to people, their memberships or keys empties the memory; age is the second guard. */
export function createActorCache(
  findActor: IdentityStore['findActor'],
  changes: Pick<ChangeFeed, 'subscribe'>,
  now: () => Instant,
): ActorCache {
  const known = new Map<string, Known>()
  let generation = 0
  const forgetAll = () => {
    generation += 1
    known.clear()
  }
  const unsubscribe = changes.subscribe(batch => {
    if (batch.some(({ topic }) => topic === 'identity')) forgetAll()
  }, forgetAll)

  async function lookUp(hash: string, remembered: Known | undefined): Promise<Known | undefined> {
    const begun = generation
    try {
      const found = await findActor(hash)
      if (!found) {
        known.delete(hash)
        return undefined
      }
      const { actor, key } = found
      const fresh = { actor, expiresAt: key.expiresAt, freshUntil: monotonicNow() + freshMilliseconds }
      if (known.size >= actorsMax) known.clear()
      if (begun === generation) known.set(hash, fresh)
      return fresh
    } catch (error) {
      if (remembered && error instanceof Problem && error.kind === 'unavailable') return remembered
      throw error
    }
  }

  return {
    async find(key) {
      const hash = hashSecret(key)
      const remembered = known.get(hash)
      const isFresh = remembered && remembered.freshUntil > monotonicNow()
      const found = isFresh ? remembered : await lookUp(hash, remembered)
      if (!found) throw invalidKey('This API key is not valid. It may have been revoked.')
      if (found.expiresAt !== null && found.expiresAt <= now()) {
        throw invalidKey('This API key has expired. Sign in again or create a new one.')
      }
      return found.actor
    },
    known(hash) {
      const remembered = known.get(hash)
      if (!remembered || remembered.freshUntil <= monotonicNow()) return undefined
      return remembered.expiresAt !== null && remembered.expiresAt <= now() ? undefined : remembered.actor
    },
    close: unsubscribe,
  }
}

const invalidKey = (message: string): Problem =>
  new Problem('unauthenticated', message, { code: 'authentication_failed' })
