import { utf8 } from './utf8.ts'

/**
 * SHA-1 reads words of four bytes. The prefix of a flag is packed into words when the flag is compiled, an identifier
 * once for each of the four ways in which a prefix can end within a word. To make a message of both is then to copy
 * words, which matters: otherwise packing costs more than hashing.
 */
export interface PackedPrefix {
  /** The whole words, and one more with the bytes after them in its upper end. */
  readonly words: Int32Array
  /** In bytes. */
  readonly length: number
}

const salts = [new Uint8Array(0), utf8('variant')] as const

export function packPrefix(text: string): PackedPrefix {
  const words = new Int32Array((text.length >> 2) + 1)
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code > 0x7f) return packBytes(utf8(text))
    words[index >> 2]! |= code << (24 - (index & 3) * 8)
  }
  return { words, length: text.length }
}

function packBytes(bytes: Uint8Array): PackedPrefix {
  const words = new Int32Array((bytes.length >> 2) + 1)
  for (let index = 0; index < bytes.length; index++) words[index >> 2]! |= bytes[index]! << (24 - (index & 3) * 8)
  return { words, length: bytes.length }
}

/**
 * An identifier, followed by a salt and the bit that ends a message. It can be opened again for the next identifier, and then makes
 * nothing anew.
 */
export class PackedIdentifier {
  /** Of the identifier in UTF-8. */
  length = 0
  #bytes: Uint8Array = new Uint8Array(64)
  /** By salt and by the number of bytes that the prefix has in its last word: the words, and how many there are. */
  readonly #words: Int32Array[] = Array.from({ length: 8 }, () => new Int32Array(0))
  readonly #counts = new Int32Array(8)

  open(text: string): this {
    if (this.#bytes.length < text.length) this.#bytes = new Uint8Array(text.length * 2)
    this.#counts.fill(0)
    this.length = text.length
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code > 0x7f) {
        this.#bytes = utf8(text)
        this.length = this.#bytes.length
        break
      }
      this.#bytes[index] = code
    }
    return this
  }

  /** The words as they follow this prefix. They stand at the front; there may be more behind them. */
  wordsAfter(prefixLength: number, salt: 0 | 1): Int32Array {
    const slot = salt * 4 + (prefixLength & 3)
    if (this.#counts[slot] === 0) this.#pack(slot, prefixLength & 3, salts[salt])
    return this.#words[slot]!
  }

  /** How many words there are. */
  countAfter(prefixLength: number, salt: 0 | 1): number {
    return ((prefixLength & 3) + this.length + salts[salt].length + 4) >> 2
  }

  #pack(slot: number, shift: number, salt: Uint8Array): void {
    const end = shift + this.length + salt.length
    const count = (end + 4) >> 2
    if (this.#words[slot]!.length < count) this.#words[slot] = new Int32Array(count * 2)
    const words = this.#words[slot]!
    const bytes = this.#bytes
    words.fill(0, 0, count)
    let at = shift
    for (let index = 0; index < this.length; index++, at++) words[at >> 2]! |= bytes[index]! << (24 - (at & 3) * 8)
    for (let index = 0; index < salt.length; index++, at++) words[at >> 2]! |= salt[index]! << (24 - (at & 3) * 8)
    words[at >> 2]! |= 0x80 << (24 - (at & 3) * 8)
    this.#counts[slot] = count
  }
}

export function packIdentifier(text: string): PackedIdentifier {
  return new PackedIdentifier().open(text)
}

export function messageLength(prefixLength: number, identifier: PackedIdentifier, salt: 0 | 1): number {
  return prefixLength + identifier.length + salts[salt].length
}

/** A message has nine bytes more than its text: the bit that ends it, and its length. */
export function blockCount(length: number): number {
  return ((length + 8) >> 6) + 1
}

/** Lays the words of a message down, `stride` apart. Its prefix is packed in `words` from `from` on. */
export function layWords(
  words: Int32Array,
  from: number,
  prefixLength: number,
  identifier: PackedIdentifier,
  salt: 0 | 1,
  blocks: number,
  target: Int32Array,
  start: number,
  stride: number,
): void {
  const tail = from + (prefixLength >> 2)
  const following = identifier.wordsAfter(prefixLength, salt)
  const count = identifier.countAfter(prefixLength, salt)
  let at = start
  for (let index = from; index < tail; index++, at += stride) target[at] = words[index]!
  target[at] = words[tail]! | following[0]!
  at += stride
  for (let index = 1; index < count; index++, at += stride) target[at] = following[index]!
  const last = start + (blocks * 16 - 1) * stride
  for (; at < last; at += stride) target[at] = 0
  target[last] = messageLength(prefixLength, identifier, salt) * 8
}

/**
 * Lays down a whole message straight from the text, without packing the identifier first, its words `stride` apart. Gives the
 * number of blocks, or undefined when the text is not all ASCII or takes more than `blocksMax`.
 */
export function layText(
  prefix: PackedPrefix,
  identifier: string,
  salt: 0 | 1,
  blocksMax: number,
  target: Int32Array,
  start: number,
  stride: number,
): number | undefined {
  const { words } = prefix
  const saltBytes = salts[salt]
  const length = prefix.length + identifier.length + saltBytes.length
  const blocks = blockCount(length)
  if (blocks > blocksMax) return undefined
  let at = start
  for (let index = 0; index < words.length - 1; index++, at += stride) target[at] = words[index]!
  let word = words[words.length - 1]!
  let shift = 24 - (prefix.length & 3) * 8
  const end = identifier.length + saltBytes.length
  for (let index = 0; index < end; index++) {
    const code = index < identifier.length ? identifier.charCodeAt(index) : saltBytes[index - identifier.length]!
    if (code > 0x7f) return undefined
    word |= code << shift
    shift -= 8
    if (shift >= 0) continue
    target[at] = word
    at += stride
    word = 0
    shift = 24
  }
  target[at] = word | (0x80 << shift)
  const last = start + (blocks * 16 - 1) * stride
  for (at += stride; at < last; at += stride) target[at] = 0
  target[last] = length * 8
  return blocks
}
