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
import { type Alone, aloneBlocksMax, messageStart, resultStart, sharedAlone } from './sha1-alone.ts'

/** A bucket is a number from 0 to 1: the first 15 hexadecimal digits of the SHA-1 of a text, divided by 2^60. */

export function bucketOf({ words, length }: PackedPrefix, identifier: string, salt: Salt): number {
  return bucketAlone(words, 0, length, identifier, salt)
}

/** Hashes one message by itself. The prefix is packed in `prefixes` from `from` on. */
export function bucketAlone(
  prefixes: Int32Array,
  from: number,
  prefixLength: number,
  identifier: string,
  salt: Salt,
): number {
  const alone = sharedAlone()
  const length = prefixLength + identifier.length + saltLengths[salt]
  const blocks = blockCount(length)
  if (alone === undefined || blocks > aloneBlocksMax) {
    return bucketInPlainJavaScript(prefixes, from, prefixLength, identifier, salt)
  }
  const { memory } = alone
  const end = messageStart + blocks * 16
  if (!layMessage(prefixes, from, prefixLength, identifier, salt, memory, messageStart, end)) {
    return bucketBeyondAscii(alone, wholeMessage(prefixes, from, prefixLength, identifier, salt))
  }
  memory[end - 1] = length * 8
  return hashLaid(alone, blocks)
}

function bucketBeyondAscii(alone: Alone, message: Int32Array): number {
  if (message.length > aloneBlocksMax * 16) return hashInPlainJavaScript(message)
  alone.memory.set(message, messageStart)
  return hashLaid(alone, message.length >> 4)
}

function hashLaid({ memory, hash }: Alone, blocks: number): number {
  hash(blocks)
  return unitOf(memory[resultStart]!, memory[resultStart + 1]!)
}

/** The prefix is packed in `prefixes` from `from` on. */
export function bucketInPlainJavaScript(
  prefixes: Int32Array,
  from: number,
  prefixLength: number,
  identifier: string,
  salt: Salt,
): number {
  return hashInPlainJavaScript(wholeMessage(prefixes, from, prefixLength, identifier, salt))
}

function hashInPlainJavaScript(message: Int32Array): number {
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
