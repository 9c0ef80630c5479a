import { utf8 } from './utf8.ts'

/** A hashed message is the flag's prefix, the identifier of the subject, and a salt. */
export type Salt = typeof ROLLOUT_SALT | typeof VARIANT_SALT

export const ROLLOUT_SALT = 0
export const VARIANT_SALT = 1

/** By salt. */
export const saltBytes = [new Uint8Array(0), utf8('variant')] as const

/** SHA-1 reads 32-bit words. Prefixes are packed into words at compile time, since packing costs more than hashing. */
export interface PackedPrefix {
  /** The whole words, and one more with the remaining bytes in its upper end. */
  readonly words: Int32Array
  /** In bytes. */
  readonly length: number
}

export function packPrefix(text: string): PackedPrefix {
  return packAscii(text) ?? packUtf8(text)
}

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

/** SHA-1 appends nine bytes: the end bit and the length. A block has 64 bytes. */
const blockCount = (length: number): number => ((length + 8) >> 6) + 1

/** The padded message as words. */
export function paddedMessage(
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
