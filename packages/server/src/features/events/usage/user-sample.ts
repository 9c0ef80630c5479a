import { createHash } from 'node:crypto'

/**
 * Counting distinct users in bounded space (adaptive sampling). A user is a number spread evenly over 53 bits. A series keeps the
 * numbers of its users until there are more than `keptUsersMax`; then it goes up a level, at which only every second number qualifies,
 * and so on. Kept × 2^level is exact at level 0 and unbiased above, with a standard error of about 1 to 1.4 percent. The result
 * depends neither on order nor on repetition, and samples of several days can be united.
 */
export const keptUsersMax = 10_000

const hashBits = 53

export function userHash(projectId: number, distinctId: string): number {
  const digest = createHash('sha256').update(`${projectId}:${distinctId}`).digest()
  return Number(digest.readBigUInt64BE(0) >> BigInt(64 - hashBits))
}

/** Numbers below this qualify at a level. */
export const thresholdAt = (level: number): number => 2 ** (hashBits - level)

export const estimate = (kept: number, level: number): number => kept * 2 ** level
