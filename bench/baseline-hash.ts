/** SHA-1 of a short ASCII string in straightforward JavaScript. The baseline of the engine benchmark. */
const words = new Int32Array(80)

export function baselineHash(text: string): number {
  const length = text.length
  const blocks = ((length + 8) >> 6) + 1
  let h0 = 0x67452301
  let h1 = 0xefcdab89 | 0
  let h2 = 0x98badcfe | 0
  let h3 = 0x10325476
  let h4 = 0xc3d2e1f0 | 0
  for (let block = 0; block < blocks; block++) {
    const start = block * 64
    words.fill(0, 0, 16)
    const end = Math.min(length - start, 64)
    for (let at = 0; at < end; at++) words[at >> 2]! |= text.charCodeAt(start + at) << (24 - (at & 3) * 8)
    if (end >= 0 && end < 64) words[end >> 2]! |= 0x80 << (24 - (end & 3) * 8)
    if (block === blocks - 1) words[15] = length * 8
    for (let at = 16; at < 80; at++) {
      const word = words[at - 3]! ^ words[at - 8]! ^ words[at - 14]! ^ words[at - 16]!
      words[at] = (word << 1) | (word >>> 31)
    }
    let a = h0
    let b = h1
    let c = h2
    let d = h3
    let e = h4
    for (let at = 0; at < 20; at++) {
      const next = (((a << 5) | (a >>> 27)) + ((b & c) | (~b & d)) + e + 0x5a827999 + words[at]!) | 0
      e = d
      d = c
      c = (b << 30) | (b >>> 2)
      b = a
      a = next
    }
    for (let at = 20; at < 40; at++) {
      const next = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + 0x6ed9eba1 + words[at]!) | 0
      e = d
      d = c
      c = (b << 30) | (b >>> 2)
      b = a
      a = next
    }
    for (let at = 40; at < 60; at++) {
      const next = (((a << 5) | (a >>> 27)) + ((b & c) | (d & (b | c))) + e + 0x8f1bbcdc + words[at]!) | 0
      e = d
      d = c
      c = (b << 30) | (b >>> 2)
      b = a
      a = next
    }
    for (let at = 60; at < 80; at++) {
      const next = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + 0xca62c1d6 + words[at]!) | 0
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
  return ((h0 >>> 0) * 0x10000000 + (h1 >>> 4)) / 0x1000000000000000
}
