import { PLAIN, type Salt, saltBytes, saltLengths, VARIANT } from './bucket-message.ts'
import { tailWords } from './sha1-simd.ts'
import { utf8 } from './utf8.ts'

/** The words that one packed identifier takes: by salt and by the number of bytes that the beginning has in its last word. */
export const identifierWords = 8 * tailWords

/** The longest one that may follow a beginning in a message of two blocks. */
const tailBytesMax = 119

/**
 * An identifier as it follows the beginnings of messages: with a salt, the bit that ends a message, and zeros. It is packed once for each
 * of the ways in which a beginning can end within a word, into memory from `start` on.
 */
export class PackedIdentifier {
  /** Of the identifier in UTF-8. */
  length = 0
  #bytes = new Uint8Array(64)
  readonly #memory: Int32Array
  readonly #start: number
  /** How many words of each tail are not zero, by salt. */
  readonly #wordCounts = new Int32Array(2)

  constructor(memory: Int32Array, start: number) {
    this.#memory = memory
    this.#start = start
  }

  /** Where the four tails of a salt are. */
  placeOf(salt: Salt): number {
    return this.#start + salt * 4 * tailWords
  }

  open(text: string): void {
    this.length = this.#readAscii(text) ? text.length : this.#readUtf8(text)
    this.#pack(PLAIN)
    this.#pack(VARIANT)
  }

  #readAscii(text: string): boolean {
    this.#makeRoom(text.length)
    const bytes = this.#bytes
    let bits = 0
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      bytes[index] = code
      bits |= code
    }
    return bits < 0x80
  }

  #readUtf8(text: string): number {
    const bytes = utf8(text)
    this.#makeRoom(bytes.length)
    this.#bytes.set(bytes)
    return bytes.length
  }

  /** A salt follows, the bit that ends the message, and the rest of a word. */
  #makeRoom(length: number): void {
    const needed = length + saltLengths[VARIANT] + 4
    if (this.#bytes.length < needed) this.#bytes = new Uint8Array(needed * 2)
  }

  #pack(salt: Salt): void {
    const start = this.placeOf(salt)
    const memory = this.#memory
    const bytes = this.#bytes
    const salted = saltBytes[salt]
    const length = this.length + salted.length
    if (length > tailBytesMax) return
    for (let index = 0; index < salted.length; index++) bytes[this.length + index] = salted[index]!
    bytes[length] = 0x80
    bytes[length + 1] = 0
    bytes[length + 2] = 0
    bytes[length + 3] = 0
    // One more than the bytes need: the last tail begins three bytes later.
    const wordCount = (length >> 2) + 2
    const zeros = Math.max(this.#wordCounts[salt]!, wordCount)
    this.#wordCounts[salt] = wordCount
    let word = 0
    for (let at = 0; at < zeros; at++) {
      const before = word
      const byte = at * 4
      word =
        byte > length ? 0 : (bytes[byte]! << 24) | (bytes[byte + 1]! << 16) | (bytes[byte + 2]! << 8) | bytes[byte + 3]!
      memory[start + at] = word
      memory[start + tailWords + at] = (word >>> 8) | (before << 24)
      memory[start + 2 * tailWords + at] = (word >>> 16) | (before << 16)
      memory[start + 3 * tailWords + at] = (word >>> 24) | (before << 8)
    }
  }
}
