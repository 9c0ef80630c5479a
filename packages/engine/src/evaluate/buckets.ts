import { bucketOf } from '../hash/bucket.ts'
import { hashAll } from '../hash/hash-all.ts'
import type { HashBatch } from '../hash/hash-batch.ts'
import { type PackedPrefix, ROLLOUT_SALT, type Salt } from '../hash/message.ts'

/** PostHog puts an empty identifier into bucket 0: inside every rollout, even 0 %, and in the first variant. */
export const bucketOrZero = (prefix: PackedPrefix, identifier: string, salt: Salt): number =>
  identifier === '' ? 0 : bucketOf(prefix, identifier, salt)

/** The rollout and variant buckets of one run, by flag position. Each is hashed at most once. */
export class Buckets {
  /** NaN where nothing has been hashed. */
  readonly rollouts: Float64Array
  readonly variants: Float64Array
  /** What has been hashed one at a time: position and salt in one number. */
  readonly #single: number[] = []
  #singleCount = 0
  #hasBatches = false

  constructor(flagCount: number) {
    this.rollouts = new Float64Array(flagCount).fill(Number.NaN)
    this.variants = new Float64Array(flagCount).fill(Number.NaN)
  }

  #bySalt(salt: Salt): Float64Array {
    return salt === ROLLOUT_SALT ? this.rollouts : this.variants
  }

  hash(position: number, prefix: PackedPrefix, identifier: string, salt: Salt): number {
    const bucket = bucketOrZero(prefix, identifier, salt)
    this.#bySalt(salt)[position] = bucket
    this.#single[this.#singleCount++] = position * 2 + salt
    return bucket
  }

  hashBatch(batch: HashBatch, identifier: string, salt: Salt): void {
    if (identifier === '') return
    this.#hasBatches = true
    hashAll(batch, identifier, salt, this.#bySalt(salt))
  }

  /** Prepares for the next subject. */
  clear(): void {
    if (this.#hasBatches) {
      this.rollouts.fill(Number.NaN)
      this.variants.fill(Number.NaN)
      this.#hasBatches = false
    } else {
      for (let index = 0; index < this.#singleCount; index++) {
        const hashed = this.#single[index]!
        this.#bySalt((hashed & 1) as Salt)[hashed >> 1] = Number.NaN
      }
    }
    this.#singleCount = 0
  }
}
