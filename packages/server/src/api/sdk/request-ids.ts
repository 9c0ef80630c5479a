import { randomFillSync } from 'node:crypto'

/** A UUID of version 4 as text, in bytes: most answers are put together from bytes. */
export type RequestId = Buffer

export const requestIdBytes = 36

const bytesPerId = 16
/** To ask the system for randomness costs as much for many ids as for one. */
const idsAtOnce = 256
const [versionAt, variantAt] = [6, 8]
const dash = 0x2d
const digits = Buffer.from('0123456789abcdef')

/** Makes an id for each answer, in the place of the one before. */
export function createRequestIds(): () => RequestId {
  const random = Buffer.alloc(bytesPerId * idsAtOnce)
  // The dashes stay where they are.
  const id = Buffer.alloc(requestIdBytes, dash)
  let next = random.length
  return () => {
    if (next === random.length) {
      randomFillSync(random)
      next = 0
    }
    random[next + versionAt] = 0x40 | (random[next + versionAt]! & 0x0f)
    random[next + variantAt] = 0x80 | (random[next + variantAt]! & 0x3f)
    for (let position = 0, at = 0; position < bytesPerId; position++) {
      if (position === 4 || position === 6 || position === 8 || position === 10) at++
      const byte = random[next++]!
      id[at++] = digits[byte >> 4]!
      id[at++] = digits[byte & 0x0f]!
    }
    return id
  }
}
