const polynomial = 0xedb88320
const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) remainder = remainder & 1 ? (remainder >>> 1) ^ polynomial : remainder >>> 1
  return remainder >>> 0
})

/** CRC-32 as in IEEE 802.3. */
export function crc32(bytes: ArrayLike<number>): number {
  let remainder = 0xffffffff
  for (let at = 0; at < bytes.length; at++) remainder = table[(remainder ^ bytes[at]!) & 0xff]! ^ (remainder >>> 8)
  return (remainder ^ 0xffffffff) >>> 0
}
