import { bucketOf } from '../hash/bucket.ts'
import { type PackedPrefix, PLAIN, VARIANT } from '../hash/bucket-message.ts'

/** The buckets of the flag that is being decided, each computed once: several of its conditions may ask. */
export class Buckets {
  #position = -1
  #rollout = Number.NaN
  #variant = Number.NaN

  rollout(position: number, prefix: PackedPrefix, identifier: string): number {
    this.#turnTo(position)
    if (Number.isNaN(this.#rollout)) this.#rollout = bucketOf(prefix, identifier, PLAIN)
    return this.#rollout
  }

  variant(position: number, prefix: PackedPrefix, identifier: string): number {
    this.#turnTo(position)
    if (Number.isNaN(this.#variant)) this.#variant = bucketOf(prefix, identifier, VARIANT)
    return this.#variant
  }

  #turnTo(position: number): void {
    if (position === this.#position) return
    this.#position = position
    this.#rollout = Number.NaN
    this.#variant = Number.NaN
  }

  /** For the next subject. */
  clear(): void {
    this.#position = -1
  }
}
