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
  const projects = new Map<string, number>()
  const unknown = new Map<string, number>()
  const underWay = new Map<string, Promise<number | undefined>>()
  /** Goes up when something is forgotten, so that a look-up that began before is not remembered. */
  let generation = 0

  async function lookUpAndRemember(token: string): Promise<number | undefined> {
    const begun = generation
    const projectId = await lookUp(token)
    if (begun !== generation) return projectId
    if (projectId === undefined) {
      if (unknown.size >= unknownMax) unknown.clear()
      unknown.set(token, now() + unknownMilliseconds)
    } else {
      if (projects.size >= tokensMax) projects.clear()
      projects.set(token, projectId)
    }
    return projectId
  }

  return {
    get: token => projects.get(token),
    async find(token) {
      const projectId = projects.get(token)
      if (projectId !== undefined) return projectId
      if (!tokenPattern.test(token) || (unknown.get(token) ?? 0) > now()) return undefined
      const begun =
        underWay.get(token) ??
        lookUpAndRemember(token).finally(() => {
          underWay.delete(token)
        })
      underWay.set(token, begun)
      return begun
    },
    forget(projectId) {
      generation += 1
      for (const [token, id] of projects) if (id === projectId) projects.delete(token)
    },
    forgetUnknown() {
      generation += 1
      unknown.clear()
    },
    forgetAll() {
      generation += 1
      unknown.clear()
      projects.clear()
    },
  }
}
