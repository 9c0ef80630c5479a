import {
  blockCount,
  layText,
  layWords,
  messageLength,
  type PackedIdentifier,
  type PackedPrefix,
  packIdentifier,
  packPrefix,
} from './pack.ts'
import { compress, initialState } from './sha1.ts'
import { aloneStart, sharedLanes } from './sha1-lanes.ts'

/**
 * A bucket is a number from 0 to 1: the first 15 hexadecimal digits of the SHA-1 of a text, divided by 2^60. The text is
 * a prefix, the identifier of whom the flag is evaluated for, and a salt that tells the choice of a variant from the
 * choice of people.
 */
export type Salt = typeof PLAIN | typeof VARIANT

export const PLAIN = 0
export const VARIANT = 1

/** Where messages are laid down when there are no lanes. */
const words = new Int32Array(64)
const state = new Int32Array(5)

/** One lane of four is quicker than plain JavaScript. */
export function bucketOf(prefix: PackedPrefix, identifier: string, salt: Salt): number {
  const lanes = sharedLanes()
  const target = lanes === undefined ? words : lanes.memory
  const start = lanes === undefined ? 0 : aloneStart
  const blocks = layText(prefix, identifier, salt, 2, target, start, lanes === undefined ? 1 : 4)
  if (blocks === undefined) return bucketOfPacked(prefix.words, 0, prefix.length, packIdentifier(identifier), salt)
  if (lanes === undefined) return hashWords(words, blocks)
  lanes.hash(aloneStart, 1, blocks)
  return unitOf(lanes.memory[aloneStart]!, lanes.memory[aloneStart + 4]!)
}

/** The prefix is packed in `prefixes` from `from` on. */
export function bucketOfPacked(
  prefixes: Int32Array,
  from: number,
  prefixLength: number,
  identifier: PackedIdentifier,
  salt: Salt,
): number {
  const blocks = blockCount(messageLength(prefixLength, identifier, salt))
  const message = new Int32Array(blocks * 16)
  layWords(prefixes, from, prefixLength, identifier, salt, blocks, message, 0, 1)
  return hashWords(message, blocks)
}

function hashWords(message: Int32Array, blocks: number): number {
  for (let index = 0; index < 5; index++) state[index] = initialState[index]!
  for (let block = 0; block < blocks; block++) compress(state, message, block * 16)
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
