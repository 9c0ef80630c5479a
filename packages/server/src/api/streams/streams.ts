import type { ServerResponse } from 'node:http'
import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import type { Snapshots } from '../../evaluation/snapshots.ts'
import { createEventStreams, type EventStreamLimits, type Frame, frameOf } from '../../http/routes/event-streams.ts'
import { Problem } from '../../problem.ts'
import type { Definitions } from '../sdk/definitions.ts'
import { createDefinitionFeed } from './definition-feed.ts'

/** Pushes changes to followers within milliseconds of the commit. */
export interface Streams {
  /** A project's definitions: everything, then each change. Raises `throttled`, `unavailable`. */
  followDefinitions(projectId: number, response: ServerResponse, options: FollowOptions): void
  /** OFREP's event that evaluations may have changed. Raises the same. */
  followEvaluations(projectId: number, response: ServerResponse, options: FollowOptions): void
  readonly size: number
  /** Ends all streams spread out, so that their clients do not all reconnect at the same moment. */
  drain(): Promise<void>
  close(): void
}

export interface FollowOptions {
  /** The id of the last event that the follower received. */
  readonly lastSeen: string | undefined
  readonly headers: Readonly<Record<string, string>>
}

interface Deps {
  readonly snapshots: Snapshots
  readonly definitions: Definitions
  readonly limits?: Partial<EventStreamLimits>
}

const definitionsTopic = (projectId: number): string => `definitions ${projectId}`
const evaluationsTopic = (projectId: number): string => `evaluations ${projectId}`

export function createStreams({ snapshots, definitions, limits }: Deps): Streams {
  const streams = createEventStreams(limits)
  const feed = createDefinitionFeed(definitions)

  const { idOf } = definitions

  const refetch = (served: ServedProject): Frame => {
    const id = idOf(served)
    return Buffer.from(frameOf({ id, data: JSON.stringify({ type: 'refetchEvaluation', etag: id }) }))
  }

  function follow(
    topic: string,
    projectId: number,
    response: ServerResponse,
    options: FollowOptions,
    openingOf: (served: ServedProject) => Frame | undefined,
  ): void {
    // Read in the same tick: a version from before could lack a change that was already sent to all streams.
    const served = snapshots.current(projectId)
    if (!served) throw new Problem('unavailable', 'The project was unloaded. Try again.', { retryAfterSeconds: 1 })
    streams.open(projectId, topic, response, options.headers, openingOf(served))
    const letGo = snapshots.keep(projectId)
    response.on('close', () => {
      letGo()
      if (!streams.has(definitionsTopic(projectId))) feed.forget(projectId)
    })
  }

  const unsubscribe = snapshots.onSwap((before, after) => {
    const { id } = before.project
    if (!after) return
    if (streams.has(evaluationsTopic(id))) streams.sendPaced(evaluationsTopic(id), refetch(after))
    const frame = streams.has(definitionsTopic(id)) ? feed.change(before, after) : undefined
    if (frame !== undefined) streams.send(definitionsTopic(id), frame)
  })

  return {
    followDefinitions(id, response, options) {
      follow(definitionsTopic(id), id, response, options, served => feed.opening(served, options.lastSeen))
    },
    followEvaluations(id, response, options) {
      const isBehind = (served: ServedProject) => options.lastSeen !== undefined && options.lastSeen !== idOf(served)
      follow(evaluationsTopic(id), id, response, options, served => (isBehind(served) ? refetch(served) : undefined))
    },
    get size() {
      return streams.size
    },
    drain: streams.drain,
    close() {
      unsubscribe()
      streams.close()
    },
  }
}
