/**
 * SHA-1 in plain JavaScript, for what bucketing needs of it: the first 60 bits of the digest of a short text.
 *
 * The hash decides who gets which variant, in agreement with every PostHog library. It protects nothing.
 */

const words = new Int32Array(80)

/** The first 15 hexadecimal digits of the digest of the text's UTF-8 form, divided by 2^60. */
export function unitHash(text: string): number {
  const bytes = utf8(text)
  const blocks = ((bytes.length + 8) >> 6) + 1
  let h0 = 0x67452301
  let h1 = 0xefcdab89 | 0
  let h2 = 0x98badcfe | 0
  let h3 = 0x10325476
  let h4 = 0xc3d2e1f0 | 0
  for (let block = 0; block < blocks; block++) {
    loadBlock(bytes, block, blocks)
    let a = h0
    let b = h1
    let c = h2
    let d = h3
    let e = h4
    for (let round = 0; round < 80; round++) {
      const next = (((a << 5) | (a >>> 27)) + e + words[round]! + mix(round, b, c, d)) | 0
      e = d
      d = c
      c = (b << 30) | (b >>> 2)
      b = a
      a = next
    }
    h0 = (h0 + a) | 0
    h1 = (h1 + b) | 0
    h2 = (h2 + c) | 0
    h3 = (h3 + d) | 0
    h4 = (h4 + e) | 0
  }
  return unitOf(h0, h1)
}

/** Exact up to the one rounding that the libraries have too: 60 bits do not fit into a double. */
export function unitOf(h0: number, h1: number): number {
  return ((h0 >>> 0) * 0x10000000 + (h1 >>> 4)) / 0x1000000000000000
}

function mix(round: number, b: number, c: number, d: number): number {
  if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999
  if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1
  if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
  return (b ^ c ^ d) + 0xca62c1d6
}

function loadBlock(bytes: Uint8Array, block: number, blocks: number): void {
  const start = block * 64
  for (let index = 0; index < 16; index++) {
    const at = start + index * 4
    words[index] =
      (byteAt(bytes, at) << 24) | (byteAt(bytes, at + 1) << 16) | (byteAt(bytes, at + 2) << 8) | byteAt(bytes, at + 3)
  }
  if (block === blocks - 1) words[15] = bytes.length * 8
  for (let index = 16; index < 80; index++) {
    const word = words[index - 3]! ^ words[index - 8]! ^ words[index - 14]! ^ words[index - 16]!
    words[index] = (word << 1) | (word >>> 31)
  }
}

function byteAt(bytes: Uint8Array, index: number): number {
  if (index < bytes.length) return bytes[index]!
  return index === bytes.length ? 0x80 : 0
}

/** Half of a surrogate pair becomes the replacement character, as everywhere. */
export function utf8(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3)
  let length = 0
  for (let index = 0; index < text.length; index++) {
    let code = text.charCodeAt(index)
    if (code >= 0xd800 && code <= 0xdfff) {
      const point = text.codePointAt(index)!
      code = point > 0xffff ? point : 0xfffd
      if (point > 0xffff) index++
    }
    if (code < 0x80) {
      bytes[length++] = code
    } else if (code < 0x800) {
      bytes[length++] = 0xc0 | (code >> 6)
      bytes[length++] = 0x80 | (code & 0x3f)
    } else if (code < 0x10000) {
      bytes[length++] = 0xe0 | (code >> 12)
      bytes[length++] = 0x80 | ((code >> 6) & 0x3f)
      bytes[length++] = 0x80 | (code & 0x3f)
    } else {
      bytes[length++] = 0xf0 | (code >> 18)
      bytes[length++] = 0x80 | ((code >> 12) & 0x3f)
      bytes[length++] = 0x80 | ((code >> 6) & 0x3f)
      bytes[length++] = 0x80 | (code & 0x3f)
    }
  }
  return bytes.subarray(0, length)
}
