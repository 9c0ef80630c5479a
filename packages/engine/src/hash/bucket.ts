import { type PackedPrefix, packPrefix, paddedMessage, ROLLOUT_SALT, type Salt, VARIANT_SALT } from './message.ts'
import { compress, initialState } from './sha1.ts'

/** A bucket is a number from 0 to 1: the first 15 hexadecimal digits of the SHA-1 of a message, divided by 2^60. */

/** Hashes one message. For many messages about one identifier, `hashAll` is faster. */
export function bucketOf(prefix: PackedPrefix, identifier: string, salt: Salt): number {
  const state = digest(paddedMessage(prefix, identifier, salt))
  return bucketFrom(state[0]!, state[1]!)
}

function digest(message: Int32Array): Int32Array {
  const state = Int32Array.from(initialState)
  for (let start = 0; start < message.length; start += 16) compress(state, message, start)
  return state
}

/** The first 32 bits of the SHA-1 digest of prefix and identifier. */
export function firstWordOf(prefix: PackedPrefix, identifier: string): number {
  return digest(paddedMessage(prefix, identifier, ROLLOUT_SALT))[0]!
}

/** Rounds once, as the PostHog SDKs do: 60 bits do not fit into a double. */
export function bucketFrom(first: number, second: number): number {
  return ((first >>> 0) * 2 ** 28 + (second >>> 4)) * 2 ** -60
}

/** The prefix of a holdout's message; it is the same for all flags. */
export const holdoutPrefix: PackedPrefix = packPrefix('holdout-')

export function flagPrefix(flagKey: string): PackedPrefix {
  return packPrefix(`${flagKey}.`)
}

/** Compared with a condition's rollout percentage. */
export function rolloutBucket(flagKey: string, identifier: string): number {
  return bucketOf(flagPrefix(flagKey), identifier, ROLLOUT_SALT)
}

/** Selects a variant. */
export function variantBucket(flagKey: string, identifier: string): number {
  return bucketOf(flagPrefix(flagKey), identifier, VARIANT_SALT)
}

/** Compared with a holdout's percentage. */
export function holdoutBucket(identifier: string): number {
  return bucketOf(holdoutPrefix, identifier, ROLLOUT_SALT)
}
