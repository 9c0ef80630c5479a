import type { ServerResponse } from 'node:http'
import { drainStreams, endForReconnect, lastOnConnection } from '../../http/routes/end-streams.ts'
import { eventStreamType, frameOf } from '../../http/routes/event-streams.ts'
import type { TakeOver } from '../../http/routes/serve-route.ts'
import { Problem, stopping } from '../../problem.ts'
import type { Change, ChangeFeed } from '../../storage/changes/changes.ts'
import type { EphemeralChange, EphemeralChanges } from '../../storage/changes/ephemeral-changes.ts'
import { type Actor, levelIn, levelInProject } from '../../tenancy.ts'
import { createRecentChanges } from './recent-changes.ts'

/** Notifies users that something they can see has changed, without its content. */
export interface ChangeStreams {
  /** Takes over the response until the client disconnects. Raises `throttled`. */
  follow(follower: Follower): TakeOver
  /** The last change that was delivered, for a client that begins to read now and follows later. */
  position(): string
  /** Ends all streams spread out, and accepts no more. */
  drain(): Promise<void>
  close(): void
}

export interface Follower {
  readonly actor: Actor
  /** The position of the last change that the client knows. */
  readonly after?: string | undefined
}

export interface ChangeStreamLimits {
  readonly followersMax: number
  /** So that the keys of one user do not use up the limit of all others. */
  readonly followersPerPersonMax: number
  /** A client with more unread bytes is disconnected; it reconnects. */
  readonly unreadBytesMax: number
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
  ...lastOnConnection,
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
  let isDraining = false

  const countOf = ({ user }: Actor): number => {
    let count = 0
    for (const { actor } of streams.values()) if (actor.user.id === user.id) count += 1
    return count
  }
  const write = (response: ServerResponse, text: string) => {
    if (response.writableEnded) return
    if (response.writableLength > unreadBytesMax) response.destroy()
    else response.write(text)
  }
  const deliver = (delivered: readonly Delivered[]) => {
    for (const [response, { actor }] of streams) {
      const frames = framesFor(actor, delivered)
      if (frames !== '') write(response, frames)
    }
  }
  const unsubscribeFromEphemeral = ephemeral.subscribe(batch => deliver(batch.map(change => ({ change }))))
  const unsubscribe = changes.subscribe(
    // Persons change too often for dashboards, which do not follow them.
    batch => deliver(recent.add(batch.filter(({ topic }) => topic !== 'person' && topic !== 'group'))),
    () => {
      recent.reset()
      for (const response of streams.keys()) write(response, opening(recent.position()))
    },
  )
  const beat = setInterval(() => {
    // Others' changes move the position too.
    for (const response of streams.keys()) write(response, `id: ${recent.position()}\n\n`)
  }, heartbeatMilliseconds)
  beat.unref()

  return {
    follow(follower) {
      if (isDraining) throw stopping()
      if (streams.size >= followersMax || countOf(follower.actor) >= followersPerPersonMax) {
        throw new Problem('throttled', 'Too many streams are open.', { retryAfterSeconds: 30 })
      }
      return (response, headers) => {
        const open: Open = { ...follower }
        streams.set(response, open)
        response.once('close', () => streams.delete(response))
        response.on('error', () => streams.delete(response))
        response.writeHead(200, { ...headers, ...streamHeaders })
        const missed = recent.after(follower.after)
        if (missed) response.write(resuming(follower.after!) + framesFor(follower.actor, missed))
        else response.write(opening(recent.position()))
        return actor => {
          open.actor = actor
        }
      }
    },
    position: recent.position,
    drain() {
      isDraining = true
      return drainStreams(streams.keys())
    },
    close() {
      isDraining = true
      clearInterval(beat)
      unsubscribe()
      unsubscribeFromEphemeral()
      for (const response of streams.keys()) endForReconnect(response, streams.size)
    },
  }
}

/** Ephemeral changes have no position: they are not repeated to a client that resumes. */
interface Delivered {
  readonly position?: string
  readonly change: Announced
}

type Announced = Pick<Change, 'organizationId' | 'projectId' | 'entityId'> &
  Pick<EphemeralChange, 'presence'> & { readonly topic: string }

function isVisibleTo(actor: Actor, { topic, organizationId, projectId, entityId, presence }: Announced): boolean {
  // One's own presence is no news.
  if (presence?.kind === 'renewed' || presence?.user === actor.user.uuid) return false
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
