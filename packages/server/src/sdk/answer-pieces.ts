import { copyOverrun, openPieceCopier, type PieceCopier } from './piece-copier.ts'

/**
 * The pieces that answers are made of, all in one memory, which a copier puts together quickly. One serves all projects. When it is full,
 * everything is forgotten, and made again when it is needed.
 */
export interface AnswerPieces {
  /** Goes up when everything is forgotten: places of before are of no use then. Between answers only. */
  readonly generation: number
  /** To be called before each answer. */
  begin(): void
  /** Where the piece is kept; 0 when there is no room for it now. */
  keep(piece: Uint8Array): number
  /** Where places and lengths of up to `lineMax` pieces are put, by turns, to be taken together. It is another array after `keep`. */
  readonly line: Int32Array
  /** Puts so many pieces of the line one behind the other into `target`, from `at` on. Their lengths are `length` in sum, at most `lineBytesMax`. */
  take(count: number, length: number, target: Uint8Array, at: number): void
}

/** So few that what is put together does not leave the nearest cache before it is taken. */
export const lineMax = 64
export const lineBytesMax = 128 * 1024
const joinedStart = lineMax * 8
const piecesStart = joinedStart + lineBytesMax + copyOverrun
const growthBytes = 1024 * 1024
const memoryBytesMax = 48 * 1024 * 1024

export function createAnswerPieces(
  copier: PieceCopier = openPieceCopier(),
  bytesMax: number = memoryBytesMax,
): AnswerPieces {
  let bytes = copier.bytes()
  let line = new Int32Array(bytes.buffer, 0, lineMax * 2)
  let free = piecesStart
  let isFull = false
  let generation = 0

  function makeRoom(end: number): boolean {
    if (end <= bytes.length) return true
    isFull = end > bytesMax || !copier.grow(Math.max(end - bytes.length, growthBytes))
    bytes = copier.bytes()
    line = new Int32Array(bytes.buffer, 0, lineMax * 2)
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
    keep(piece) {
      if (piece.length > lineBytesMax || isFull || !makeRoom(free + piece.length + copyOverrun)) return 0
      const place = free
      bytes.set(piece, place)
      free += piece.length
      return place
    },
    take(count, length, target, at) {
      copier.copy(0, count, joinedStart)
      target.set(bytes.subarray(joinedStart, joinedStart + length), at)
    },
  }
}
