import { type Salt, saltBytes } from './message.ts'
import { utf8 } from './utf8.ts'

/** Enough for a message of two blocks. */
const tailWords = 32
const tailBytesMax = 119

/**
 * What follows the prefix in a message: the identifier, a salt, the end bit and zeros. It is packed once for each of the
 * four byte offsets at which a prefix can end within a word.
 */
export class PackedTail {
  /** Of the identifier and the salt in UTF-8, in bytes. */
  length = 0
  readonly #memory: Int32Array
  readonly #start: number
  readonly #bytes = new Uint8Array(128)
  #usedWords = 0

  /** `start` is a position in words; the four forms take `tailWords` each. */
  constructor(memory: Int32Array, start: number) {
    this.#memory = memory
    this.#start = start
  }

  open(identifier: string, salt: Salt): void {
    const length = this.#readAscii(identifier) ? identifier.length : this.#readUtf8(identifier)
    this.length = length + saltBytes[salt].length
    // A longer tail does not fit into two blocks, so no message with it is ever written.
    if (this.length <= tailBytesMax) this.#pack(length, saltBytes[salt])
  }

  #readAscii(text: string): boolean {
    if (text.length > tailBytesMax) return false
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
    if (bytes.length <= tailBytesMax) this.#bytes.set(bytes)
    return bytes.length
  }

  #pack(identifierLength: number, salted: Uint8Array): void {
    const { length } = this
    const memory = this.#memory
    const start = this.#start
    const bytes = this.#bytes
    for (let index = 0; index < salted.length; index++) bytes[identifierLength + index] = salted[index]!
    bytes[length] = 0x80
    for (let index = 1; index < 4; index++) bytes[length + index] = 0
    // At offset 3 the tail ends up to one word later. Words that an earlier, longer tail used become zero.
    const wordCount = (length >> 2) + 2
    const zeroed = Math.max(this.#usedWords, wordCount)
    this.#usedWords = wordCount
    let word = 0
    for (let at = 0; at < zeroed; at++) {
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
