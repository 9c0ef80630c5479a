const shifts = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
const sines = Int32Array.from({ length: 64 }, (_, index) => Math.floor(Math.abs(Math.sin(index + 1)) * 2 ** 32) | 0)
const initialState = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]

/** The MD5 digest, 16 bytes. */
export function md5(bytes: ArrayLike<number>): Uint8Array {
  const words = paddedWords(bytes)
  const state = Int32Array.from(initialState)
  for (let start = 0; start < words.length; start += 16) compress(state, words.subarray(start, start + 16))
  return new Uint8Array(littleEndian(state))
}

function paddedWords(bytes: ArrayLike<number>): Int32Array {
  const { length } = bytes
  const words = new Int32Array((((length + 8) >> 6) + 1) * 16)
  for (let at = 0; at < length; at++) words[at >> 2]! |= bytes[at]! << ((at & 3) * 8)
  words[length >> 2]! |= 0x80 << ((length & 3) * 8)
  words[words.length - 2] = length << 3
  words[words.length - 1] = length >>> 29
  return words
}

function compress(state: Int32Array, block: Int32Array): void {
  let [a, b, c, d] = state as unknown as [number, number, number, number]
  for (let step = 0; step < 64; step++) {
    const round = step >> 4
    const [mixed, word] = mix(round, step, b, c, d)
    const sum = (a + mixed + sines[step]! + block[word]!) | 0
    const shift = shifts[round * 4 + (step & 3)]!
    a = d
    d = c
    c = b
    b = (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0
  }
  state[0]! += a
  state[1]! += b
  state[2]! += c
  state[3]! += d
}

/** The mixing function of a round, and the word that the step reads. */
function mix(round: number, step: number, b: number, c: number, d: number): [mixed: number, word: number] {
  if (round === 0) return [(b & c) | (~b & d), step & 15]
  if (round === 1) return [(d & b) | (~d & c), (5 * step + 1) & 15]
  if (round === 2) return [b ^ c ^ d, (3 * step + 5) & 15]
  return [c ^ (b | ~d), (7 * step) & 15]
}

function littleEndian(state: Int32Array): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(16))
  for (const [index, word] of state.entries()) view.setInt32(index * 4, word, true)
  return view.buffer
}
