import { copyOverrun, type FragmentCopier, lengthBytes, openFragmentCopier } from './fragment-copier.ts'

/**
 * The pieces that answers are made of, all in one memory, which a copier puts together quickly. One serves all projects. When it is full,
 * everything is forgotten, and made again when it is needed.
 */
export interface ResponseFragments {
  /** Goes up when everything is forgotten: what was kept before is of no use then. Between answers only. */
  readonly generation: number
  /** To be called before each answer. */
  begin(): void
  /**
   * Keeps a piece and gives what it is known by: 0 when there is no room for it now, less than 0 when it is too long for the line. The lowest bit
   * of others is the mark.
   */
  keep(piece: Uint8Array, isMarked: boolean): number
  /** Where up to `lineMax` pieces are put by what they are known by, to be taken together. It is another array after `keep`. */
  readonly line: Int32Array
  /** Gives so many pieces of the line as one, until the next call. */
  take(count: number): Uint8Array
  /** Gives a piece that is too long for the line. */
  takeLong(known: number): Uint8Array
}

/** So few that what is put together does not leave the nearest cache before it is taken. */
export const lineMax = 64
/** Longer ones are taken one by one. */
export const pieceInLineBytesMax = 2048
const lineBytes = lineMax * 4
const joinedStart = lineBytes
const piecesStart = joinedStart + lineMax * pieceInLineBytesMax + copyOverrun
const pieceBytesMax = 256 * 1024
const growthBytes = 1024 * 1024
const memoryBytesMax = 48 * 1024 * 1024

export function createResponseFragments(
  copier: FragmentCopier = openFragmentCopier(),
  bytesMax: number = memoryBytesMax,
): ResponseFragments {
  let bytes = copier.bytes()
  let line = new Int32Array(bytes.buffer, 0, lineMax)
  let free = piecesStart
  let isFull = false
  let generation = 0

  function makeRoom(end: number): boolean {
    if (end <= bytes.length) return true
    isFull = end > bytesMax || !copier.grow(Math.max(end - bytes.length, growthBytes))
    bytes = copier.bytes()
    line = new Int32Array(bytes.buffer, 0, lineMax)
    return !isFull
  }

  return {
    get generation() {
      return generation
    },
    get line() {
      return line
    },
    begin() {
      if (!isFull) return
      isFull = false
      free = piecesStart
      generation += 1
    },
    keep(piece, isMarked) {
      const end = free + lengthBytes + piece.length
      if (piece.length > pieceBytesMax || isFull || !makeRoom(end + copyOverrun)) return 0
      const place = free
      new DataView(bytes.buffer).setInt32(place, piece.length, true)
      bytes.set(piece, place + lengthBytes)
      free = end
      return piece.length > pieceInLineBytesMax ? -place : place * 2 + (isMarked ? 1 : 0)
    },
    take: count => bytes.subarray(joinedStart, copier.copy(0, count, joinedStart)),
    takeLong(known) {
      const length = new DataView(bytes.buffer).getInt32(-known, true)
      return bytes.subarray(-known + lengthBytes, -known + lengthBytes + length)
    },
  }
}
