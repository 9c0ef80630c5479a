import { createHash } from 'node:crypto'

/**
 * Counts distinct users in bounded space (adaptive sampling). Each user is hashed to 53 bits. A series stores the hashes of its users
 * until there are more than `sampledUsersMax`; then it moves up a level, at which only every second hash qualifies, and so on.
 * Stored × 2^level is exact at level 0 and unbiased above, with a standard error of about 1 to 1.4 percent. The result depends neither
 * on order nor on duplicates, and samples of several days can be merged.
 */
export const sampledUsersMax = 10_000

const hashBits = 53

export function userHash(projectId: number, distinctId: string): number {
  const digest = createHash('sha256').update(`${projectId}:${distinctId}`).digest()
  return Number(digest.readBigUInt64BE(0) >> BigInt(64 - hashBits))
}

/** Hashes below this qualify at a level. */
export const thresholdAt = (level: number): number => 2 ** (hashBits - level)

export const estimate = (stored: number, level: number): number => stored * 2 ** level
