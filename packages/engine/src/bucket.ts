import {
  blockCount,
  layMessage,
  type PackedPrefix,
  PLAIN,
  packPrefix,
  type Salt,
  saltLengths,
  VARIANT,
  wholeMessage,
} from './bucket-text.ts'
import { compress, initialState } from './sha1.ts'
import { freeStart, type Lanes, sharedLanes } from './sha1-lanes.ts'

/** A bucket is a number from 0 to 1: the first 15 hexadecimal digits of the SHA-1 of a text, divided by 2^60. */

/** Where a message is hashed by itself, whatever is gathered elsewhere, in one lane of four; and where the result goes. */
const aloneStart = freeStart
const aloneResults = aloneStart + 4 * 32
/** The first word that is free for others. */
export const gatheringStart = aloneResults + 8

/** One lane of four is quicker than plain JavaScript. */
export function bucketOf(prefix: PackedPrefix, identifier: string, salt: Salt): number {
  const lanes = sharedLanes()
  const length = prefix.length + identifier.length + saltLengths[salt]
  const blocks = blockCount(length)
  return lanes !== undefined && blocks <= 2 && layMessage(prefix, identifier, salt, blocks, lanes.memory, aloneStart)
    ? hashAlone(lanes, blocks, length)
    : bucketInPlainJavaScript(prefix.words, 0, prefix.length, identifier, salt)
}

function hashAlone({ memory, hash }: Lanes, blocks: number, length: number): number {
  memory[aloneStart + blocks * 16 - 1] = length * 8
  hash(aloneStart, 1, blocks, aloneResults)
  return unitOf(memory[aloneResults]!, memory[aloneResults + 4]!)
}

/** The prefix is packed in `prefixes` from `from` on. */
export function bucketInPlainJavaScript(
  prefixes: Int32Array,
  from: number,
  prefixLength: number,
  identifier: string,
  salt: Salt,
): number {
  const message = wholeMessage(prefixes, from, prefixLength, identifier, salt)
  const state = Int32Array.from(initialState)
  for (let start = 0; start < message.length; start += 16) compress(state, message, start)
  return unitOf(state[0]!, state[1]!)
}

/** Exact up to the one rounding that the libraries have too: 60 bits do not fit into a double. */
export function unitOf(first: number, second: number): number {
  return ((first >>> 0) * 0x10000000 + (second >>> 4)) / 0x1000000000000000
}

/** What stands before the identifier where a holdout is hashed. It is the same for all flags. */
export const holdoutPrefix: PackedPrefix = packPrefix('holdout-')

export function flagPrefix(flagKey: string): PackedPrefix {
  return packPrefix(`${flagKey}.`)
}

/** The number that is held against a condition's percentage. */
export function rolloutBucket(flagKey: string, identifier: string): number {
  return bucketOf(flagPrefix(flagKey), identifier, PLAIN)
}

/** The number that picks a variant. */
export function variantBucket(flagKey: string, identifier: string): number {
  return bucketOf(flagPrefix(flagKey), identifier, VARIANT)
}

/** The number that is held against a holdout's percentage. */
export function holdoutBucket(identifier: string): number {
  return bucketOf(holdoutPrefix, identifier, PLAIN)
}
