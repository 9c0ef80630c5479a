import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { drainStreams, endForReconnect, endStream, lastOnConnection } from '../../http/routes/end-streams.ts'
import { frameOf } from '../../http/routes/event-streams.ts'
import type { TakeOver } from '../../http/routes/serve-route.ts'
import { Problem, stopping } from '../../problem.ts'
import type { Actor } from '../../tenancy.ts'
import { changeBetween, type ProjectState } from './project-state.ts'
import type { ProjectStates } from './project-states.ts'

/** Replicates project states to edges, and keeps them up to date. */
export interface EdgeFeed {
  /** Takes over the response until the edge disconnects. Raises `forbidden`, `throttled`, `unavailable`. */
  follow(follower: Follower): Promise<TakeOver>
  /** The number of connected edges. */
  readonly size: number
  /** Ends all streams spread out, and accepts no more. */
  drain(): Promise<void>
  close(): void
}

export interface Follower {
  /** Authenticates the edge; called again whenever keys or memberships change. Raises `unauthenticated` or `forbidden`. */
  readonly authenticate: () => Promise<Actor>
  /** The digests of the states that the edge has, by project UUID. */
  readonly have: Readonly<Record<string, string>>
}

/** What the edge may see, and the count of access changes before it was read. */
interface FirstAccess {
  readonly projectIds: readonly number[]
  readonly accessChanges: number
}

export interface EdgeFeedLimits {
  readonly followersMax: number
  /** Per user, so that one user cannot exhaust the limit for all. */
  readonly followersPerUserMax: number
  /** A larger state is sent in several frames. */
  readonly frameCharactersMax: number
  /** An edge that reads nothing for this long is disconnected. It reconnects and resumes by digest. */
  readonly drainMillisecondsMax: number
  readonly heartbeatMilliseconds: number
}

const usualLimits: EdgeFeedLimits = {
  followersMax: 1000,
  followersPerUserMax: 250,
  frameCharactersMax: 256 * 1024,
  drainMillisecondsMax: 60_000,
  heartbeatMilliseconds: 10_000,
}
const retryMilliseconds = 500
/** An edge may follow thousands of projects, each read from memory: yields to the event loop between them. */
const turnMillisecondsMax = 10

const streamHeaders = {
  ...lastOnConnection,
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

export function createEdgeFeed(states: ProjectStates, limits: Partial<EdgeFeedLimits> = {}): EdgeFeed {
  const { followersMax, followersPerUserMax, frameCharactersMax, drainMillisecondsMax, heartbeatMilliseconds } = {
    ...usualLimits,
    ...limits,
  }
  /** With the id of the user whose key opened the stream. */
  const streams = new Map<ServerResponse, number>()
  let isDraining = false
  /** A change between the first check of access and the stream's own listener is noticed by this count. */
  let accessChanges = 0
  states.onChange(id => {
    if (id === undefined) accessChanges += 1
  })

  /** Sends one edge everything, one project after another. Changes while the edge is slow to read are sent once, in their latest version. */
  async function sendUpdates(response: ServerResponse, { authenticate, have }: Follower, first: FirstAccess) {
    const keeping = new Map<number, () => void>()
    const sent = new Map<number, ProjectState>()
    const stale = new Set<number>(first.projectIds)
    const unseen = new Map(Object.entries(have))
    let isAccessStale = first.accessChanges !== accessChanges
    let isCurrent = false
    let lastReceived = performance.now()
    let wake = () => {}

    const isOver = () => response.destroyed || response.writableEnded
    const write = async (frame: string) => {
      if (!isOver() && !response.write(frame)) await drained(response, drainMillisecondsMax)
    }
    const see = (ids: readonly number[]) => {
      for (const id of ids) if (!keeping.has(id)) keeping.set(id, states.keep(id))
      for (const id of ids) if (!sent.has(id)) stale.add(id)
      const seen = new Set(ids)
      for (const id of [...keeping.keys()]) if (!seen.has(id)) forget(id)
    }
    const forget = (id: number) => {
      keeping.get(id)?.()
      keeping.delete(id)
      const sentState = sent.get(id)
      sent.delete(id)
      stale.delete(id)
      if (sentState) unseen.set(sentState.project, '')
    }

    async function sendProject(id: number): Promise<void> {
      // Before reading: a change during the read makes the project stale again.
      stale.delete(id)
      const state = keeping.has(id) ? await states.find(id) : undefined
      if (!state) return forget(id)
      const sentState = sent.get(id)
      const isKnown = sentState ? sentState.digest === state.digest : unseen.get(state.project) === state.digest
      unseen.delete(state.project)
      sent.set(id, state)
      if (!isKnown) for (const frame of framesOf(sentState, state, frameCharactersMax)) await write(frame)
    }

    async function step(): Promise<void> {
      if (isAccessStale) {
        isAccessStale = false
        see(await states.visibleTo(await authenticate()))
        for (const id of sent.keys()) stale.add(id)
        isCurrent = false
      } else if (stale.size > 0) {
        isCurrent = false
        await sendProject(stale.values().next().value!)
      } else if (unseen.size > 0) {
        const project = unseen.keys().next().value!
        unseen.delete(project)
        await write(frameOf({ event: 'gone', data: JSON.stringify({ project }) }))
      } else if (!isCurrent) {
        isCurrent = true
        await write(frameOf({ event: 'current', data: JSON.stringify({ projects: sent.size }) }))
      } else {
        await new Promise<void>(resolve => {
          wake = resolve
          if (isOver() || stale.size > 0 || isAccessStale) resolve()
        })
      }
    }

    const forgetListener = states.onChange(id => {
      if (id === undefined) isAccessStale = true
      else if (keeping.has(id)) stale.add(id)
      wake()
    })
    const beat = setInterval(() => {
      if (!isOver() && response.writableLength === 0) response.write(': still here\n\n')
    }, heartbeatMilliseconds)
    response.once('close', () => wake())
    response.on('error', () => wake())
    see(first.projectIds)
    try {
      while (!isOver()) {
        if (performance.now() - lastReceived > turnMillisecondsMax) {
          await nextTurn()
          lastReceived = performance.now()
        }
        await step().catch(async error => {
          if (!(error instanceof Problem) || error.kind !== 'unavailable') throw error
          // The database is unavailable: the edge keeps its state until access can be checked again.
          isAccessStale = true
          await wait(retryMilliseconds)
        })
      }
    } finally {
      clearInterval(beat)
      forgetListener()
      for (const letGo of keeping.values()) letGo()
    }
  }

  return {
    async follow(follower) {
      const tooMany = (): Problem =>
        new Problem('throttled', 'Too many edges are connected to this server.', { retryAfterSeconds: 30 })
      if (isDraining) throw stopping()
      if (streams.size >= followersMax) throw tooMany()
      const accessChangesBefore = accessChanges
      const actor = await follower.authenticate()
      const ofUser = [...streams.values()].filter(userId => userId === actor.user.id)
      if (ofUser.length >= followersPerUserMax) throw tooMany()
      const first = { projectIds: await states.visibleTo(actor), accessChanges: accessChangesBefore }
      return (response, headers) => {
        streams.set(response, actor.user.id)
        response.once('close', () => streams.delete(response))
        response.writeHead(200, { ...headers, ...streamHeaders })
        response.flushHeaders()
        // The edge reconnects in any case, and then receives the reason if it lost access.
        sendUpdates(response, follower, first).catch(() => endStream(response))
        return undefined
      }
    },
    get size() {
      return streams.size
    },
    drain() {
      isDraining = true
      return drainStreams(streams.keys())
    },
    close() {
      isDraining = true
      states.close()
      for (const response of streams.keys()) endForReconnect(response, streams.size)
    },
  }
}

const drained = (response: ServerResponse, millisecondsMax: number): Promise<void> =>
  new Promise(resolve => {
    const tooLate = setTimeout(() => response.destroy(), millisecondsMax)
    const done = () => {
      clearTimeout(tooLate)
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.on('drain', done)
    response.on('close', done)
    if (response.destroyed) done()
  })

/** Only the last frame carries the digest: until then the edge does not serve the state. */
export function* framesOf(
  before: ProjectState | undefined,
  after: ProjectState,
  charactersMax: number,
): Generator<string> {
  const { set, removed } = changeBetween(before?.documents, after.documents)
  const { project, digest } = after
  const frame = (part: typeof set, isFirst: boolean, isLast: boolean) =>
    frameOf({
      event: 'project',
      data: JSON.stringify({
        project,
        ...(isFirst && { from: before?.digest ?? null, removed }),
        set: part,
        ...(isLast && { digest }),
      }),
    })
  let part: (readonly [string, string])[] = []
  let size = 0
  let isFirst = true
  for (const one of set) {
    if (size > 0 && size + one[1].length > charactersMax) {
      yield frame(part, isFirst, false)
      part = []
      size = 0
      isFirst = false
    }
    part.push(one)
    size += one[0].length + one[1].length
  }
  yield frame(part, isFirst, true)
}
