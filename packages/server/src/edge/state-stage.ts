import { canRead } from '../api/edge/project-documents.ts'
import { type Document, documentBytes, documentOf, projectState } from '../api/edge/project-state.ts'
import { parseWeighedJson } from '../http/sdk-body/json-text.ts'
import type { Replica } from './replica.ts'

/** The update does not apply to the state, or is too large. The served state is unchanged. */
export class StateGap extends Error {
  /** The projects to request again completely. */
  readonly project: string

  constructor(project: string, message: string) {
    super(message)
    this.name = 'StateGap'
    this.project = project
  }
}

/** An update of a project, in one or more frames. */
interface ProjectFrame {
  readonly project: string
  /** In the first frame: the digest of the base state; null for a complete state. */
  readonly from?: string | null
  readonly removed?: readonly string[]
  readonly set: readonly (readonly [string, string])[]
  /** In the last frame. */
  readonly digest?: string
}

export interface StateStage {
  /** Resolves when the update is served or waits for more frames. Raises StateGap. */
  take(data: string): Promise<void>
}

/** Assembles frames, and serves nothing of a project until it is complete and its digest is correct. */
export function createStateStage(replica: Replica, bytesMax: number): StateStage {
  let open: { readonly project: string; readonly documents: Map<string, Document>; bytes: number } | undefined

  function begin({ project, from, removed = [] }: ProjectFrame): NonNullable<typeof open> {
    const current = replica.stateOf(project)
    if (from === null) return { project, documents: new Map(), bytes: 0 }
    if (current?.digest !== from)
      throw new StateGap(project, `A change of project ${project} does not fit what is here.`)
    const documents = new Map(current?.documents)
    for (const name of removed) documents.delete(name)
    return { project, documents, bytes: current?.bytes ?? 0 }
  }

  return {
    async take(data) {
      const frame = readFrame(data)
      if (frame.from !== undefined) open = begin(frame)
      if (!open || open.project !== frame.project) throw new StateGap(frame.project, 'A piece of a state is missing.')
      for (const [name, json] of frame.set) {
        if (!canRead(name, json))
          throw new StateGap(frame.project, `A document of project ${frame.project} is not valid.`)
        open.documents.set(name, documentOf(name, json))
        open.bytes += documentBytes(name, json)
      }
      const others = replica.bytes - (replica.stateOf(frame.project)?.bytes ?? 0)
      if (others + open.bytes > bytesMax) {
        open = undefined
        throw new StateGap(
          frame.project,
          `The upstream's state is larger than ${bytesMax} bytes; raise HALYARD_EDGE_STATE_BYTES_MAX or follow fewer projects.`,
        )
      }
      if (frame.digest === undefined) return
      const state = projectState(frame.project, open.documents)
      open = undefined
      if (state.digest !== frame.digest) throw new StateGap(frame.project, `Project ${frame.project} came out wrong.`)
      await replica.put(state)
    },
  }
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const isText = (value: unknown): value is string => typeof value === 'string'
const isAbsentOrText = (value: unknown): boolean => value === undefined || isText(value)

/** Throws for an invalid frame; nothing of it is retained. */
function readFrame(data: string): ProjectFrame {
  const frame = parseWeighedJson(data) as ProjectFrame | null
  const { project, from, removed = [], set, digest } = frame ?? ({} as Partial<ProjectFrame>)
  const isFrame =
    isText(project) &&
    uuidPattern.test(project) &&
    (from === null || isAbsentOrText(from)) &&
    isAbsentOrText(digest) &&
    Array.isArray(removed) &&
    removed.every(isText) &&
    Array.isArray(set) &&
    set.every(pair => Array.isArray(pair) && pair.length === 2 && pair.every(isText))
  if (!isFrame) throw new Error('The upstream sent a frame that is not valid.')
  return frame as ProjectFrame
}
