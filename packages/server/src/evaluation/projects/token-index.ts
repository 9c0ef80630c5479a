import { InvalidatedCache } from '../../concurrency/invalidated-cache.ts'
import { monotonicNow } from '../../concurrency/monotonic-clock.ts'

/** Which project a token belongs to. Remembers what it found, and for a short while also what it did not find. */
export interface TokenIndex {
  /** What is remembered. */
  get(token: string): number | undefined
  /** Looks up what is not cached; concurrent callers share one lookup. */
  find(token: string): Promise<number | undefined>
  /** Forgets the tokens of a project. */
  forget(projectId: number): void
  /** Forgets which tokens were unknown. */
  forgetUnknown(): void
  forgetAll(): void
}

const tokensMax = 20_000
const unknownMax = 10_000
const unknownMilliseconds = 10_000

/** Tokens are printable and short; anything else is unknown without a query. */
const tokenPattern = /^[\x21-\x7e]{1,200}$/

export function createTokenIndex(
  lookUp: (token: string) => Promise<number | undefined>,
  now: () => number = monotonicNow,
): TokenIndex {
  const projects = new InvalidatedCache<number>({ sizeMax: tokensMax })
  /** Until when a token counts as unknown, in milliseconds. */
  const unknown = new InvalidatedCache<number>({ sizeMax: unknownMax })

  return {
    get: token => projects.peek(token),
    async find(token) {
      const known = projects.peek(token)
      if (known !== undefined) return known
      if (!tokenPattern.test(token) || (unknown.peek(token) ?? 0) > now()) return undefined
      let projectId: number | undefined
      // Both caches are loaded by one look-up, so that either is invalidated for itself.
      await unknown.load(token, async () => {
        projectId = await projects.load(token, () => lookUp(token))
        return projectId === undefined ? now() + unknownMilliseconds : undefined
      })
      return projectId ?? projects.peek(token)
    },
    forget: projectId => projects.deleteWhere(id => id === projectId),
    forgetUnknown: () => unknown.clear(),
    forgetAll() {
      unknown.clear()
      projects.clear()
    },
  }
}
