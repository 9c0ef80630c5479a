import type { ServedProject } from '../evaluation/served-project.ts'
import { type Frame, frameOf } from '../http/event-streams.ts'
import type { Definitions } from '../sdk/definitions.ts'

/** What is pushed to those who follow a project's definitions. */
export interface DefinitionFeed {
  /** What a follower gets first: nothing when they have it all, the changes since, or everything. */
  opening(served: ServedProject, lastSeen: string | undefined): Frame
  /** What followers get after a change; undefined when the change does not show. */
  change(before: ServedProject, after: ServedProject): Frame | undefined
  /** Forgets the changes of a project that nobody follows. */
  forget(projectId: number): void
}

interface Step {
  readonly from: string
  readonly frame: Frame
}

/** So many changes back a follower can resume; one further behind gets everything. */
const stepsMax = 200

/** Ids are hashes of the whole content, so that a follower can resume on any node. */
export function createDefinitionFeed(definitions: Definitions): DefinitionFeed {
  const steps = new Map<number, Step[]>()

  const idOf = (served: ServedProject): string => definitions.bodyOf(served, true).etag.slice(3, -1)

  const whole = (served: ServedProject): Frame =>
    frameOf({ event: 'state', id: idOf(served), data: definitions.bodyOf(served, true).json.toString() })

  function difference(before: ServedProject, after: ServedProject): Frame {
    if (definitions.surroundings(before) !== definitions.surroundings(after)) return whole(after)
    const [old, now] = [definitions.piecesOf(before), definitions.piecesOf(after)]
    const changed = [...now].filter(([id, json]) => old.get(id) !== json).map(([, json]) => json)
    const removed = [...old.keys()].filter(id => !now.has(id))
    return frameOf({
      event: 'change',
      id: idOf(after),
      data: `{"flags":[${changed.join(',')}],"removed":${JSON.stringify(removed)}}`,
    })
  }

  return {
    opening(served, lastSeen) {
      if (lastSeen === idOf(served)) return ''
      const known = steps.get(served.project.id) ?? []
      const start = lastSeen === undefined ? -1 : known.findLastIndex(step => step.from === lastSeen)
      return start === -1
        ? whole(served)
        : known
            .slice(start)
            .map(step => step.frame)
            .join('')
    },
    change(before, after) {
      const from = idOf(before)
      if (from === idOf(after)) return undefined
      const frame = difference(before, after)
      const known = steps.get(after.project.id) ?? []
      if (known.length >= stepsMax) known.shift()
      known.push({ from, frame })
      steps.set(after.project.id, known)
      return frame
    },
    forget(projectId) {
      steps.delete(projectId)
    },
  }
}
