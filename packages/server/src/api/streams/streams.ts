import type { ServerResponse } from 'node:http'
import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import type { Snapshots } from '../../evaluation/snapshots.ts'
import { createEventStreams, type EventStreamLimits, type Frame, frameOf } from '../../http/routes/event-streams.ts'
import type { Definitions } from '../sdk/definitions.ts'
import { createDefinitionFeed } from './definition-feed.ts'

/** Pushes changes to followers within milliseconds of the commit. */
export interface Streams {
  /** A project's definitions: everything, then each change. Raises `throttled`. */
  followDefinitions(served: ServedProject, response: ServerResponse, options: FollowOptions): void
  /** OFREP's event that evaluations may have changed. Raises `throttled`. */
  followEvaluations(served: ServedProject, response: ServerResponse, options: FollowOptions): void
  readonly size: number
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
    first: Frame | undefined,
  ): void {
    streams.open(projectId, topic, response, options.headers, first)
    const letGo = snapshots.keep(projectId)
    response.on('close', () => {
      letGo()
      if (!streams.has(definitionsTopic(projectId))) feed.forget(projectId)
    })
  }

  const unsubscribe = snapshots.onSwap((before, after) => {
    const { id } = before.project
    if (!after) return
    if (streams.has(evaluationsTopic(id))) streams.send(evaluationsTopic(id), refetch(after))
    const frame = streams.has(definitionsTopic(id)) ? feed.change(before, after) : undefined
    if (frame !== undefined) streams.send(definitionsTopic(id), frame)
  })

  return {
    followDefinitions(served, response, options) {
      const { id } = served.project
      follow(definitionsTopic(id), id, response, options, feed.opening(served, options.lastSeen))
    },
    followEvaluations(served, response, options) {
      const { id } = served.project
      const isBehind = options.lastSeen !== undefined && options.lastSeen !== idOf(served)
      follow(evaluationsTopic(id), id, response, options, isBehind ? refetch(served) : undefined)
    },
    get size() {
      return streams.size
    },
    close() {
      unsubscribe()
      streams.close()
    },
  }
}
