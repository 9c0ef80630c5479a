import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { eventStreamType, frameOf } from '../../http/routes/event-streams.ts'
import { Problem } from '../../problem.ts'
import type { Change, ChangeFeed } from '../../storage/changes/changes.ts'
import type { EphemeralChanges } from '../../storage/changes/ephemeral-changes.ts'
import { type Actor, levelIn, levelInProject } from '../../tenancy.ts'
import { createRecentChanges } from './recent-changes.ts'

/** Notifies users that something they can see has changed, without its content. */
export interface ChangeStreams {
  /** Takes over the response until the client disconnects or its key is revoked. Raises `throttled`. */
  follow(follower: Follower): (response: ServerResponse, headers: OutgoingHttpHeaders) => void
  /** The last change that was delivered, for a client that begins to read now and follows later. */
  position(): string
  /** Ends all streams. */
  close(): void
}

export interface Follower {
  readonly actor: Actor
  /** Called again whenever keys or memberships change. Raises `unauthenticated` when the key was revoked. */
  readonly authenticate: () => Promise<Actor>
  /** The position of the last change that the client knows. */
  readonly after?: string | undefined
}

export interface ChangeStreamLimits {
  readonly followersMax: number
  /** So that the keys of one user do not use up the limit of all others. */
  readonly followersPerPersonMax: number
  /** A client with more unread bytes is disconnected; it reconnects. */
  readonly unreadBytesMax: number
  /** Keys are checked at this interval even without changes, since they may expire. */
  readonly heartbeatMilliseconds: number
  /** Retained for clients that resume. */
  readonly recentMax: number
}

const usualLimits: ChangeStreamLimits = {
  followersMax: 5000,
  followersPerPersonMax: 50,
  unreadBytesMax: 256 * 1024,
  heartbeatMilliseconds: 20_000,
  recentMax: 1000,
}

interface Open extends Follower {
  actor: Actor
}

const streamHeaders = {
  'content-type': eventStreamType,
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** Whatever the client has read before may be out of date. */
const opening = (id: string): string => frameOf({ event: 'open', id, data: '{}' })
/** The client receives every change after its position. */
const resuming = (id: string): string => frameOf({ event: 'resume', id, data: '{}' })

export function createChangeStreams(
  changes: Pick<ChangeFeed, 'subscribe' | 'newest'>,
  ephemeral: Pick<EphemeralChanges, 'subscribe'>,
  limits: Partial<ChangeStreamLimits> = {},
): ChangeStreams {
  const { followersMax, followersPerPersonMax, unreadBytesMax, heartbeatMilliseconds, recentMax } = {
    ...usualLimits,
    ...limits,
  }
  const recent = createRecentChanges(recentMax, changes.newest())
  const streams = new Map<ServerResponse, Open>()
  let isClosed = false

  const countOf = ({ user }: Actor): number => {
    let count = 0
    for (const { actor } of streams.values()) if (actor.user.id === user.id) count += 1
    return count
  }
  const write = (response: ServerResponse, text: string) => {
    if (response.writableLength > unreadBytesMax) response.destroy()
    else response.write(text)
  }
  /** The projects that the key can still see. During a database outage the last known access applies. */
  const look = async (response: ServerResponse, open: Open) => {
    try {
      open.actor = await open.authenticate()
    } catch (error) {
      if (error instanceof Problem && error.kind === 'unauthenticated') end(response)
    }
  }
  const lookAtAll = () => {
    for (const [response, open] of streams) look(response, open)
  }
  const deliver = (delivered: readonly Delivered[]) => {
    for (const [response, { actor }] of streams) {
      const frames = framesFor(actor, delivered)
      if (frames !== '') write(response, frames)
    }
  }
  const unsubscribeFromEphemeral = ephemeral.subscribe(batch => deliver(batch.map(change => ({ change }))))
  const unsubscribe = changes.subscribe(
    batch => {
      deliver(recent.add(batch))
      // Not awaited: looking up a key waits for the very changes that are being delivered.
      if (batch.some(({ topic }) => topic === 'identity')) lookAtAll()
    },
    () => {
      recent.reset()
      for (const response of streams.keys()) write(response, opening(recent.position()))
      lookAtAll()
    },
  )
  const beat = setInterval(() => {
    // Others' changes move the position too.
    for (const response of streams.keys()) write(response, `id: ${recent.position()}\n\n`)
    lookAtAll()
  }, heartbeatMilliseconds)
  beat.unref()

  return {
    follow(follower) {
      if (isClosed || streams.size >= followersMax || countOf(follower.actor) >= followersPerPersonMax) {
        throw new Problem('throttled', 'Too many streams are open.', { retryAfterSeconds: 30 })
      }
      return (response, headers) => {
        streams.set(response, { ...follower })
        response.once('close', () => streams.delete(response))
        response.on('error', () => streams.delete(response))
        response.writeHead(200, { ...headers, ...streamHeaders })
        const missed = recent.after(follower.after)
        if (missed) response.write(resuming(follower.after!) + framesFor(follower.actor, missed))
        else response.write(opening(recent.position()))
      }
    },
    position: recent.position,
    close() {
      isClosed = true
      clearInterval(beat)
      unsubscribe()
      unsubscribeFromEphemeral()
      for (const response of streams.keys()) end(response)
    },
  }
}

/** Ephemeral changes have no position: they are not repeated to a client that resumes. */
interface Delivered {
  readonly position?: string
  readonly change: Announced
}

type Announced = Pick<Change, 'organizationId' | 'projectId' | 'entityId'> & { readonly topic: string }

function isVisibleTo(actor: Actor, { topic, organizationId, projectId, entityId }: Announced): boolean {
  if (topic === 'identity' && entityId === String(actor.user.id)) return true
  if (organizationId === null) return false
  if (projectId === null) return levelIn(actor, organizationId) !== undefined
  return levelInProject(actor, { id: projectId, organizationId }) !== undefined
}

const framesFor = (actor: Actor, delivered: readonly Delivered[]): string =>
  delivered
    .filter(({ change }) => isVisibleTo(actor, change))
    .map(frameOfChange)
    .join('')

const frameOfChange = ({ position, change: { topic, organizationId, projectId, entityId } }: Delivered): string =>
  frameOf({
    ...(position !== undefined && { id: position }),
    data: JSON.stringify({ topic, organization: organizationId, project: projectId, id: entityId }),
  })

/** Closes the connection too: keep-alive would prevent the server from closing. */
const end = (response: ServerResponse): void => {
  response.end(() => response.socket?.destroySoon())
}
