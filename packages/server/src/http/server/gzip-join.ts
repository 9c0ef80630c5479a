import { gzipSync, type ZlibOptions } from 'node:zlib'

/** Bytes that were compressed once, to be sent behind ever different ones. */
export interface GzippedRest {
  /** The end of a deflate stream. */
  readonly deflated: Buffer
  /** The size before compression. */
  readonly length: number
  readonly crc: number
  /** The power of x by which `length` bytes move the CRC of what is in front of them. */
  readonly crcShift: number
}

/** Without a name and other optional fields; the operating system is unknown. */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
/** The CRC of all bytes and their number, each four bytes, little-endian. */
const trailerBytes = 8
/** A block without compression has its length twice, the second time inverted (RFC 1951, 3.2.4). */
const storedHeaderBytes = 5
/** What the length of such a block can say. */
export const gzipHeadBytesMax = 0xffff

export function gzipRest(bytes: Buffer, options: ZlibOptions): GzippedRest {
  const zipped = gzipSync(bytes, options)
  // A copy of its own: the result is a part of a larger chunk.
  const deflated = Buffer.allocUnsafeSlow(zipped.length - header.length - trailerBytes)
  zipped.copy(deflated, 0, header.length)
  const crc = zipped.readUInt32LE(zipped.length - trailerBytes)
  return { deflated, length: bytes.length, crc, crcShift: powerOfX(bytes.length * 8) }
}

/** One gzip member: the head as a block without compression, then what was compressed before. */
export function gzipJoin(head: Buffer, { crc, crcShift, deflated, length }: GzippedRest): Buffer {
  const joined = Buffer.allocUnsafe(header.length + storedHeaderBytes + head.length + deflated.length + trailerBytes)
  let at = header.copy(joined)
  at = joined.writeUInt8(0, at)
  at = joined.writeUInt16LE(head.length, at)
  at = joined.writeUInt16LE(~head.length & 0xffff, at)
  at += head.copy(joined, at)
  at += deflated.copy(joined, at)
  at = joined.writeUInt32LE((multiply(crcOf(head), crcShift) ^ crc) >>> 0, at)
  joined.writeUInt32LE((head.length + length) >>> 0, at)
  return joined
}

/** The polynomial of CRC-32, the power of x with the greatest exponent in the lowest bit, as in all that follows. */
const polynomial = 0xedb88320
const one = 0x80000000

const crcOfByte = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = timesX(crc)
  return crc
})

function crcOf(bytes: Buffer): number {
  let crc = ~0
  for (let at = 0; at < bytes.length; at++) crc = crcOfByte[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8)
  return ~crc >>> 0
}

function timesX(value: number): number {
  return value & 1 ? (value >>> 1) ^ polynomial : value >>> 1
}

/** The product of two polynomials modulo that of the CRC. */
function multiply(left: number, right: number): number {
  let product = 0
  let shifted = right
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if (left & bit) product ^= shifted
    shifted = timesX(shifted)
  }
  return product >>> 0
}

function powerOfX(exponent: number): number {
  let power = one
  let square = timesX(one)
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) power = multiply(square, power)
    square = multiply(square, square)
  }
  return power
}
