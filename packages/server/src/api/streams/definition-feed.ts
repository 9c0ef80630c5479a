import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import { type Frame, frameEnd, frameHead, frameOf } from '../../http/routes/event-streams.ts'
import type { Definitions } from '../sdk/definitions.ts'

/** The events pushed to followers of a project's definitions. */
export interface DefinitionFeed {
  /** The first event of a follower: none when it is up to date, the changes since, or everything. */
  opening(served: ServedProject, lastSeen: string | undefined): Frame | undefined
  /** The event for a change; undefined when the definitions are equal. */
  change(before: ServedProject, after: ServedProject): Frame | undefined
  /** Drops the changes of a project without followers. */
  forget(projectId: number): void
}

interface Step {
  readonly from: string
  readonly to: string
  readonly frame: Frame
}

/** The changes that are retained for resuming, by number and bytes. A follower further behind gets everything. */
const stepsMax = 200
const stepsBytesMax = 4 * 1024 * 1024

/** Ids are hashes of the whole content, so that a follower can resume on any node. */
export function createDefinitionFeed(definitions: Definitions): DefinitionFeed {
  const steps = new Map<number, Step[]>()
  const states = new WeakMap<ServedProject, Frame>()

  const { idOf } = definitions

  /** Built once for all streams: slow readers share the same bytes. */
  function whole(served: ServedProject): Frame {
    const { json } = definitions.bodyOf(served, true)
    const made =
      states.get(served) ??
      Buffer.concat([Buffer.from(frameHead({ event: 'state', id: idOf(served) })), json, Buffer.from(frameEnd)])
    states.set(served, made)
    return made
  }

  function difference(before: ServedProject, after: ServedProject): Frame {
    if (definitions.surroundings(before) !== definitions.surroundings(after)) return whole(after)
    const [old, now] = [definitions.piecesOf(before), definitions.piecesOf(after)]
    const changed: string[] = []
    for (const [id, json] of now) if (old.get(id) !== json) changed.push(json)
    const removed = [...old.keys()].filter(id => !now.has(id))
    const from = JSON.stringify(idOf(before))
    const data = `{"from":${from},"flags":[${changed.join(',')}],"removed":${JSON.stringify(removed)}}`
    return Buffer.from(frameOf({ event: 'change', id: idOf(after), data }))
  }

  return {
    opening(served, lastSeen) {
      if (lastSeen === idOf(served)) return undefined
      const projectSteps = steps.get(served.project.id) ?? []
      const leadHere = lastSeen !== undefined && projectSteps.at(-1)?.to === idOf(served)
      const start = leadHere ? projectSteps.findLastIndex(step => step.from === lastSeen) : -1
      return start === -1 ? whole(served) : Buffer.concat(projectSteps.slice(start).map(step => step.frame))
    },
    change(before, after) {
      const [from, to] = [idOf(before), idOf(after)]
      if (from === to) return undefined
      const frame = difference(before, after)
      const projectSteps = steps.get(after.project.id) ?? []
      // While a project has no followers, its changes are not retained.
      const leading = projectSteps.at(-1)?.to === from ? projectSteps : []
      leading.push({ from, to, frame })
      steps.set(after.project.id, lastSteps(leading))
      return frame
    },
    forget(projectId) {
      steps.delete(projectId)
    },
  }
}

/** The newest changes that fit, without a gap. */
function lastSteps(steps: readonly Step[]): Step[] {
  let [first, bytes] = [steps.length, 0]
  while (first > 0 && steps.length - first < stepsMax) {
    bytes += steps[first - 1]!.frame.length
    if (bytes > stepsBytesMax) break
    first -= 1
  }
  return steps.slice(first)
}
