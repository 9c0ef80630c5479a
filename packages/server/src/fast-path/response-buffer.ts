/**
 * Bytes to put answers together in. One room serves all answers, one after the other: what is sent at once has been copied by the
 * system when `write` returns, so the next answer may lie where this one lay. That spares an allocation for each answer, and its collection.
 */
export interface ResponseBuffer {
  /** At least so many bytes. What was there before is written over. */
  take(bytes: number): Buffer
  /** What is in the room could not be sent at once and is still needed: the next answer gets another room. */
  leave(): void
}

const roomBytesMin = 64 * 1024
/** Larger answers get a room of their own, so that a single one does not occupy memory for good. */
const roomBytesMax = 1024 * 1024

export function createResponseBuffer(): ResponseBuffer {
  let room: Buffer | undefined
  return {
    take(bytes) {
      if (room !== undefined && room.length >= bytes) return room
      if (bytes > roomBytesMax) return Buffer.allocUnsafeSlow(bytes)
      let size = roomBytesMin
      while (size < bytes) size *= 2
      room = Buffer.allocUnsafeSlow(size)
      return room
    },
    leave() {
      room = undefined
    },
  }
}

/** For an answer that is not sent at once: it gets bytes of its own. */
export const unpooledBuffer: ResponseBuffer = { take: bytes => Buffer.allocUnsafe(bytes), leave() {} }
