import { monotonicNow } from '../../concurrency/monotonic-clock.ts'
import { InvalidatedCache } from '../../storage/changes/invalidated-cache.ts'

/** Finds the project of a token. Caches hits, and misses for a short time. */
export interface TokenIndex {
  /** The cached project. */
  get(token: string): number | undefined
  /** Looks up what is not cached; concurrent callers share one lookup. */
  find(token: string): Promise<number | undefined>
  /** Invalidates the tokens of a project. */
  forget(projectId: number): void
  /** Invalidates the cached misses. */
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
      const cached = projects.peek(token)
      if (cached !== undefined) return cached
      if (!tokenPattern.test(token) || (unknown.peek(token) ?? 0) > now()) return undefined
      let projectId: number | undefined
      // One lookup fills both caches, and each is invalidated separately.
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
