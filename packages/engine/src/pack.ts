import { utf8 } from './utf8.ts'

/**
 * SHA-1 reads words of four bytes. The prefix of a flag is packed into words when the flag is compiled, an identifier
 * once for each of the four ways in which a prefix can end within a word. To make a message of both is then to copy
 * words, which matters: otherwise packing costs more than hashing.
 */
export interface PackedPrefix {
  /** The whole words. */
  readonly words: Int32Array
  /** The bytes after them, in the upper end of a word. */
  readonly tail: number
  readonly length: number
}

/** An identifier, followed by a salt and the bit that ends a message. */
export interface PackedIdentifier {
  readonly bytes: Uint8Array
  /** By salt and by the number of bytes that the prefix has in its last word. */
  readonly shifted: (Int32Array | undefined)[]
}

const salts = [new Uint8Array(0), utf8('variant')] as const

export function packPrefix(text: string): PackedPrefix {
  const bytes = utf8(text)
  const words = packWords(bytes, (bytes.length + 3) >> 2)
  const whole = bytes.length >> 2
  return { words: words.subarray(0, whole), tail: words[whole] ?? 0, length: bytes.length }
}

export function packIdentifier(text: string): PackedIdentifier {
  return { bytes: utf8(text), shifted: [] }
}

/** The words of identifier and salt as they follow this prefix. */
export function identifierWords(identifier: PackedIdentifier, prefix: PackedPrefix, salt: 0 | 1): Int32Array {
  const shift = prefix.length & 3
  const slot = salt * 4 + shift
  const known = identifier.shifted[slot]
  if (known !== undefined) return known
  const saltBytes = salts[salt]
  const length = shift + identifier.bytes.length + saltBytes.length
  const bytes = new Uint8Array(length + 1)
  bytes.set(identifier.bytes, shift)
  bytes.set(saltBytes, shift + identifier.bytes.length)
  bytes[length] = 0x80
  const words = packWords(bytes, (length + 4) >> 2)
  identifier.shifted[slot] = words
  return words
}

export function messageLength(prefix: PackedPrefix, identifier: PackedIdentifier, salt: 0 | 1): number {
  return prefix.length + identifier.bytes.length + salts[salt].length
}

/** A message has nine bytes more than its text: the bit that ends it, and its length. */
export function blockCount(length: number): number {
  return ((length + 8) >> 6) + 1
}

/** Lays the words of a message down, `stride` apart. */
export function layWords(
  prefix: PackedPrefix,
  following: Int32Array,
  lengthBits: number,
  blocks: number,
  target: Int32Array,
  start: number,
  stride: number,
): void {
  let at = start
  for (let index = 0; index < prefix.words.length; index++, at += stride) target[at] = prefix.words[index]!
  target[at] = prefix.tail | following[0]!
  at += stride
  for (let index = 1; index < following.length; index++, at += stride) target[at] = following[index]!
  const last = start + (blocks * 16 - 1) * stride
  for (; at < last; at += stride) target[at] = 0
  target[last] = lengthBits
}

/**
 * Lays down a whole message straight from the text, without packing the identifier first. Gives the length of the text,
 * or undefined when it is not all ASCII or does not fit.
 */
export function layText(prefix: PackedPrefix, identifier: string, salt: 0 | 1, target: Int32Array): number | undefined {
  const saltBytes = salts[salt]
  const length = prefix.length + identifier.length + saltBytes.length
  const wordCount = blockCount(length) * 16
  if (wordCount > target.length) return undefined
  const whole = prefix.words.length
  for (let index = 0; index < whole; index++) target[index] = prefix.words[index]!
  for (let index = whole + 1; index < wordCount; index++) target[index] = 0
  target[whole] = prefix.tail
  let at = prefix.length
  for (let index = 0; index < identifier.length; index++, at++) {
    const code = identifier.charCodeAt(index)
    if (code > 0x7f) return undefined
    target[at >> 2]! |= code << (24 - (at & 3) * 8)
  }
  for (let index = 0; index < saltBytes.length; index++, at++)
    target[at >> 2]! |= saltBytes[index]! << (24 - (at & 3) * 8)
  target[at >> 2]! |= 0x80 << (24 - (at & 3) * 8)
  target[wordCount - 1] = length * 8
  return length
}

function packWords(bytes: Uint8Array, count: number): Int32Array {
  const words = new Int32Array(count)
  for (let index = 0; index < count; index++) {
    const at = index * 4
    words[index] =
      ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)
  }
  return words
}
