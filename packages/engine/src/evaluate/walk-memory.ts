import { freeStart, joinMax } from '../hash/sha1-simd.ts'
import { bagsMax } from './flat-flags.ts'

/** What is where in the memory that flags are walked through in; in words, if nothing else is said. */

/** Of 64 KiB each. */
export const pages = 96
export const memoryWords = pages * 16_384

/** By bag: how many bytes the identifier has, or `NOBODY`. */
export const bagsStart = freeStart
export const NOBODY = -1
/** For each bag the lines for rollouts with messages of one block and of two, then those for variants. */
export const linesStart = bagsStart + bagsMax
export const linesOfBag = 4
export const line = {
  /** How many flags wait. */
  count: 0,
  blocks: 1,
  salt: 2,
  /** Where the tails of their messages are, and the length of one, in bytes. */
  tails: 3,
  tailLength: 4,
  /** The flags, what each one waits for, and the hashes. */
  records: 5,
  notes: 5 + joinMax,
  results: 5 + joinMax * 2,
} as const
export const lineWords = line.results + joinMax * 2
export const linesEnd = linesStart + bagsMax * linesOfBag * lineWords
/** Where the rooms of an evaluation are. */
export const roomsStart = linesEnd
/** The first word that the program does not use. */
export const walkEnd = roomsStart + 3
