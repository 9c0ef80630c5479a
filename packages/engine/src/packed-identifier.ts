import { type Salt, saltBytes, saltLengths, VARIANT } from './bucket-text.ts'
import { tailWords } from './sha1-lanes.ts'
import { utf8 } from './utf8.ts'

/** The words that one packed identifier takes: by salt and by the number of bytes that the prefix has in its last word. */
export const identifierWords = 8 * tailWords

/**
 * An identifier as it follows prefixes: with a salt, the bit that ends a message, and zeros. It is packed once for each of the ways in which a
 * prefix can end within a word, when that is first needed, into memory from `start` on.
 */
export class PackedIdentifier {
  /** Of the identifier in UTF-8. */
  length = 0
  /** The identifier, and after it the salt of variants. */
  #bytes = new Uint8Array(64)
  readonly #memory: Int32Array
  readonly #start: number
  readonly #isPacked = new Uint8Array(8)

  constructor(memory: Int32Array, start: number) {
    this.#memory = memory
    this.#start = start
  }

  open(text: string): void {
    this.length = this.#readAscii(text) ? text.length : this.#readUtf8(text)
    for (let index = 0; index < saltLengths[VARIANT]; index++) {
      this.#bytes[this.length + index] = saltBytes[VARIANT][index]!
    }
    this.#isPacked.fill(0)
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

  #makeRoom(length: number): void {
    const needed = length + saltLengths[VARIANT]
    if (this.#bytes.length < needed) this.#bytes = new Uint8Array(needed * 2)
  }

  /** Where the words are that follow a prefix of this length. The whole message must not take more than two blocks. */
  tailAfter(prefixLength: number, salt: Salt): number {
    const slot = salt * 4 + (prefixLength & 3)
    const at = this.#start + slot * tailWords
    if (this.#isPacked[slot] === 0) {
      this.#isPacked[slot] = 1
      this.#pack(at, prefixLength & 3, this.length + saltLengths[salt])
    }
    return at
  }

  #pack(start: number, bytesBefore: number, length: number): void {
    const memory = this.#memory
    const bytes = this.#bytes
    let at = start
    let word = 0
    let shift = 24 - bytesBefore * 8
    for (let index = 0; index < length; index++) {
      word |= bytes[index]! << shift
      shift -= 8
      if (shift >= 0) continue
      memory[at++] = word
      word = 0
      shift = 24
    }
    memory[at++] = word | (0x80 << shift)
    for (const end = start + tailWords; at < end; at++) memory[at] = 0
  }
}
