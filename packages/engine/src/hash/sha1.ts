/**
 * SHA-1 in JavaScript. It assigns persons to buckets exactly as all PostHog SDKs do; it is not used for security.
 */

/** The initial hash value of SHA-1. */
export const initialState: readonly number[] = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476, 0xc3d2e1f0 | 0]

/** Scratch memory for the message schedule. */
const schedule = new Int32Array(80)

/** The compression function: updates the five words of state with the block at `start`. */
export function compress(state: Int32Array, words: Int32Array, start: number): void {
  for (let index = 0; index < 16; index++) schedule[index] = words[start + index]!
  for (let index = 16; index < 80; index++) {
    const word = schedule[index - 3]! ^ schedule[index - 8]! ^ schedule[index - 14]! ^ schedule[index - 16]!
    schedule[index] = (word << 1) | (word >>> 31)
  }
  rounds(state)
}

/** Five rounds per iteration, so that the variables rotate without moves. */
function rounds(state: Int32Array): void {
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  let e = state[4]!
  let at = 0
  for (; at < 20; at += 5) {
    e = (((a << 5) | (a >>> 27)) + ((b & c) | (~b & d)) + e + 0x5a827999 + schedule[at]!) | 0
    b = (b << 30) | (b >>> 2)
    d = (((e << 5) | (e >>> 27)) + ((a & b) | (~a & c)) + d + 0x5a827999 + schedule[at + 1]!) | 0
    a = (a << 30) | (a >>> 2)
    c = (((d << 5) | (d >>> 27)) + ((e & a) | (~e & b)) + c + 0x5a827999 + schedule[at + 2]!) | 0
    e = (e << 30) | (e >>> 2)
    b = (((c << 5) | (c >>> 27)) + ((d & e) | (~d & a)) + b + 0x5a827999 + schedule[at + 3]!) | 0
    d = (d << 30) | (d >>> 2)
    a = (((b << 5) | (b >>> 27)) + ((c & d) | (~c & e)) + a + 0x5a827999 + schedule[at + 4]!) | 0
    c = (c << 30) | (c >>> 2)
  }
  for (; at < 40; at += 5) {
    e = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + 0x6ed9eba1 + schedule[at]!) | 0
    b = (b << 30) | (b >>> 2)
    d = (((e << 5) | (e >>> 27)) + (a ^ b ^ c) + d + 0x6ed9eba1 + schedule[at + 1]!) | 0
    a = (a << 30) | (a >>> 2)
    c = (((d << 5) | (d >>> 27)) + (e ^ a ^ b) + c + 0x6ed9eba1 + schedule[at + 2]!) | 0
    e = (e << 30) | (e >>> 2)
    b = (((c << 5) | (c >>> 27)) + (d ^ e ^ a) + b + 0x6ed9eba1 + schedule[at + 3]!) | 0
    d = (d << 30) | (d >>> 2)
    a = (((b << 5) | (b >>> 27)) + (c ^ d ^ e) + a + 0x6ed9eba1 + schedule[at + 4]!) | 0
    c = (c << 30) | (c >>> 2)
  }
  for (; at < 60; at += 5) {
    e = (((a << 5) | (a >>> 27)) + ((b & c) | (d & (b | c))) + e + 0x8f1bbcdc + schedule[at]!) | 0
    b = (b << 30) | (b >>> 2)
    d = (((e << 5) | (e >>> 27)) + ((a & b) | (c & (a | b))) + d + 0x8f1bbcdc + schedule[at + 1]!) | 0
    a = (a << 30) | (a >>> 2)
    c = (((d << 5) | (d >>> 27)) + ((e & a) | (b & (e | a))) + c + 0x8f1bbcdc + schedule[at + 2]!) | 0
    e = (e << 30) | (e >>> 2)
    b = (((c << 5) | (c >>> 27)) + ((d & e) | (a & (d | e))) + b + 0x8f1bbcdc + schedule[at + 3]!) | 0
    d = (d << 30) | (d >>> 2)
    a = (((b << 5) | (b >>> 27)) + ((c & d) | (e & (c | d))) + a + 0x8f1bbcdc + schedule[at + 4]!) | 0
    c = (c << 30) | (c >>> 2)
  }
  for (; at < 80; at += 5) {
    e = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + 0xca62c1d6 + schedule[at]!) | 0
    b = (b << 30) | (b >>> 2)
    d = (((e << 5) | (e >>> 27)) + (a ^ b ^ c) + d + 0xca62c1d6 + schedule[at + 1]!) | 0
    a = (a << 30) | (a >>> 2)
    c = (((d << 5) | (d >>> 27)) + (e ^ a ^ b) + c + 0xca62c1d6 + schedule[at + 2]!) | 0
    e = (e << 30) | (e >>> 2)
    b = (((c << 5) | (c >>> 27)) + (d ^ e ^ a) + b + 0xca62c1d6 + schedule[at + 3]!) | 0
    d = (d << 30) | (d >>> 2)
    a = (((b << 5) | (b >>> 27)) + (c ^ d ^ e) + a + 0xca62c1d6 + schedule[at + 4]!) | 0
    c = (c << 30) | (c >>> 2)
  }
  state[0] = (state[0]! + a) | 0
  state[1] = (state[1]! + b) | 0
  state[2] = (state[2]! + c) | 0
  state[3] = (state[3]! + d) | 0
  state[4] = (state[4]! + e) | 0
}
