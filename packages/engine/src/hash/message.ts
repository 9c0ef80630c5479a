import { utf8 } from './utf8.ts'

/**
 * What is hashed: the prefix of a flag, the identifier of whom it is evaluated for, and a salt that tells the choice of a variant from the
 * choice of people.
 */
export type Salt = typeof PLAIN | typeof VARIANT

export const PLAIN = 0
export const VARIANT = 1

/** By salt. */
export const saltBytes = [new Uint8Array(0), utf8('variant')] as const
export const saltLengths = [0, 7] as const

/**
 * SHA-1 reads words of four bytes. Prefixes are packed into them when flags are compiled: otherwise packing costs more than hashing.
 */
export interface PackedPrefix {
  /** The whole words, and one more with the bytes after them in its upper end. */
  readonly words: Int32Array
  /** In bytes. */
  readonly length: number
}

export function packPrefix(text: string): PackedPrefix {
  return packAscii(text) ?? packUtf8(text)
}

/** Most are. */
function packAscii(text: string): PackedPrefix | undefined {
  const words = new Int32Array((text.length >> 2) + 1)
  let bits = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    bits |= code
    words[index >> 2]! |= code << (24 - (index & 3) * 8)
  }
  return bits < 0x80 ? { words, length: text.length } : undefined
}

function packUtf8(text: string): PackedPrefix {
  const bytes = utf8(text)
  return { words: packBytes(bytes, (bytes.length >> 2) + 1), length: bytes.length }
}

function packBytes(bytes: Uint8Array, wordCount: number): Int32Array {
  const words = new Int32Array(wordCount)
  for (let index = 0; index < bytes.length; index++) words[index >> 2]! |= bytes[index]! << (24 - (index & 3) * 8)
  return words
}

/** A message has nine bytes more than its text: the bit that ends it, and its length. */
export const blockCount = (length: number): number => ((length + 8) >> 6) + 1

/** A whole message. */
export function wholeMessage(
  { words: prefix, length: prefixLength }: PackedPrefix,
  identifier: string,
  salt: Salt,
): Int32Array {
  const bytes = utf8(identifier)
  const length = prefixLength + bytes.length + saltBytes[salt].length
  const text = new Uint8Array(length + 1)
  for (let index = 0; index < prefixLength; index++) {
    text[index] = prefix[index >> 2]! >>> (24 - (index & 3) * 8)
  }
  text.set(bytes, prefixLength)
  text.set(saltBytes[salt], prefixLength + bytes.length)
  text[length] = 0x80
  const words = packBytes(text, blockCount(length) * 16)
  words[words.length - 1] = length * 8
  return words
}
