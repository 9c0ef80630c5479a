/**
 * Memory that responses are assembled in, one after another. A response that `write` could send at once has been copied by the
 * operating system, so the next one may overwrite it: no allocation per response, and no garbage.
 */
export interface ResponseBuffer {
  /** At least this many bytes, with unspecified content. */
  take(bytes: number): Buffer
  /** The last response could not be sent at once and still needs its bytes: the next one gets new memory. */
  detach(): void
}

const bufferBytesMin = 64 * 1024
/** Larger responses get memory of their own, so that a single one does not occupy it for good. */
const bufferBytesMax = 1024 * 1024

export function createResponseBuffer(): ResponseBuffer {
  let buffer: Buffer | undefined
  return {
    take(bytes) {
      if (buffer !== undefined && buffer.length >= bytes) return buffer
      if (bytes > bufferBytesMax) return Buffer.allocUnsafeSlow(bytes)
      let size = bufferBytesMin
      while (size < bytes) size *= 2
      buffer = Buffer.allocUnsafeSlow(size)
      return buffer
    },
    detach() {
      buffer = undefined
    },
  }
}
