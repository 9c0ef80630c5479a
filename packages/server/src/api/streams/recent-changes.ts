import { createHash, randomUUID } from 'node:crypto'
import type { Change } from '../../storage/changes/changes.ts'

export interface DeliveredChange {
  /** Opaque, and the same on every node. */
  readonly position: string
  readonly change: Change
}

/** The last changes that this node has delivered, so that a client can resume after the one that it knows. */
export interface RecentChanges {
  /** Returns the changes with their positions. */
  add(changes: readonly Change[]): readonly DeliveredChange[]
  /** What followed a position, or undefined when that is not known here. */
  after(position: string | undefined): readonly DeliveredChange[] | undefined
  position(): string
  /** After changes were missed no earlier position is valid. */
  reset(): void
}

/** Starts after the newest change of the database, whose position other nodes know, or after nothing. */
export function createRecentChanges(max: number, newest?: Change): RecentChanges {
  /** Where `recent` begins. */
  let start: string = newest ? positionOf(newest) : randomUUID()
  let recent: DeliveredChange[] = []
  return {
    add(changes) {
      const delivered = changes.map(change => ({ position: positionOf(change), change }))
      const all = [...recent, ...delivered]
      const dropped = Math.max(0, all.length - max)
      start = all[dropped - 1]?.position ?? start
      recent = all.slice(dropped)
      return delivered
    },
    after(position) {
      if (position === undefined) return undefined
      if (position === start) return recent
      const index = recent.findLastIndex(each => each.position === position)
      return index === -1 ? undefined : recent.slice(index + 1)
    },
    position: () => recent.at(-1)?.position ?? start,
    reset() {
      start = randomUUID()
      recent = []
    },
  }
}

/** A digest: the sequence itself would disclose how many changes an installation has. */
const positionOf = ({ sequence, at, topic, entityId }: Change): string =>
  createHash('sha256')
    .update(JSON.stringify([sequence, at, topic, entityId]))
    .digest('base64url')
    .slice(0, 22)
