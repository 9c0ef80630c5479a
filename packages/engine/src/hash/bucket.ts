import {
  blockCount,
  type PackedPrefix,
  PLAIN,
  packPrefix,
  type Salt,
  saltBytes,
  saltLengths,
  VARIANT,
  wholeMessage,
} from './bucket-message.ts'
import { compress, initialState } from './sha1.ts'
import { type Alone, aloneBlocksMax, messageStart, resultStart, sharedAlone } from './sha1-scalar.ts'

/** A bucket is a number from 0 to 1: the first 15 hexadecimal digits of the SHA-1 of a text, divided by 2^60. */

/** Hashes one message by itself. */
export function bucketOf(prefix: PackedPrefix, identifier: string, salt: Salt): number {
  const alone = sharedAlone()
  const length = prefix.length + identifier.length + saltLengths[salt]
  const blocks = blockCount(length)
  if (alone === undefined || blocks > aloneBlocksMax) return bucketInPlainJavaScript(prefix, identifier, salt)
  if (!layMessage(prefix, identifier, salt, alone, blocks)) {
    return bucketBeyondAscii(alone, wholeMessage(prefix, identifier, salt))
  }
  return hashLaid(alone, blocks)
}

/** Lays down a whole message, straight from the text. Answers false, and leaves it at that, when the identifier is not plain ASCII. */
function layMessage(
  { words, length }: PackedPrefix,
  identifier: string,
  salt: Salt,
  { bytes, memory }: Alone,
  blocks: number,
): boolean {
  const end = messageStart + blocks * 16
  let word = messageStart
  for (let index = 0; index < words.length; index++) memory[word++] = words[index]!
  while (word < end) memory[word++] = 0
  const salted = saltBytes[salt]
  let at = messageStart * 4 + length
  let bits = 0
  for (let index = 0; index < identifier.length; index++) {
    const code = identifier.charCodeAt(index)
    bits |= code
    // The first byte of a word is its highest, which memory has last.
    bytes[at++ ^ 3] = code
  }
  for (let index = 0; index < salted.length; index++) bytes[at++ ^ 3] = salted[index]!
  bytes[at ^ 3] = 0x80
  memory[end - 1] = (at - messageStart * 4) * 8
  return bits < 0x80
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

export function bucketInPlainJavaScript(prefix: PackedPrefix, identifier: string, salt: Salt): number {
  return hashInPlainJavaScript(wholeMessage(prefix, identifier, salt))
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
