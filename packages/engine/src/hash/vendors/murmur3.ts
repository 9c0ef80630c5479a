/**
 * MurmurHash3, x86, 32 bits. Units above 255 overlap with their neighbors, as in implementations for JavaScript strings.
 */
export function murmur3(units: ArrayLike<number>, seed: number): number {
  const { length } = units
  const blockEnd = length - (length & 3)
  let hash = seed
  for (let at = 0; at < blockEnd; at += 4) {
    hash ^= scramble(blockAt(units, at))
    hash = (hash << 13) | (hash >>> 19)
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0
  }
  const tail = tailOf(units, blockEnd)
  if (tail > 0) hash ^= scramble(tail)
  return finish(hash ^ length)
}

function blockAt(units: ArrayLike<number>, at: number): number {
  const last = units[at + 3]!
  return units[at]! ^ (units[at + 1]! << 8) ^ (units[at + 2]! << 16) ^ ((last & 0xff) << 24) ^ ((last & 0xff00) >> 8)
}

function tailOf(units: ArrayLike<number>, from: number): number {
  let tail = 0
  for (let at = from; at < units.length; at++) tail ^= units[at]! << ((at - from) * 8)
  return tail
}

function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51)
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
}

function finish(hash: number): number {
  let mixed = hash
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
