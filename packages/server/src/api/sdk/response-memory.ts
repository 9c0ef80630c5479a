/** Memory of responses that is used again: a new allocation for each costs as much as evaluating the flags. */
export interface ResponseMemory {
  /** Contains bytes of earlier responses. */
  take(length: number): Buffer
  /** To be called once nothing reads the bytes any more. What is never released is garbage-collected. */
  release(bytes: Buffer): void
}

const smallestBytes = 4096
const freeBytesMaxDefault = 8 * 1024 * 1024

export function createResponseMemory(freeBytesMax = freeBytesMaxDefault): ResponseMemory {
  /** By size, which is a power of two. */
  const free = new Map<number, Buffer[]>()
  let freeBytes = 0
  return {
    take(length) {
      const size = sizeFor(length)
      const whole = free.get(size)?.pop()
      if (whole) freeBytes -= size
      return (whole ?? Buffer.allocUnsafeSlow(size)).subarray(0, length)
    },
    release(bytes) {
      const size = bytes.buffer.byteLength
      if (freeBytes + size > freeBytesMax) return
      const ofSize = free.get(size)
      const whole = Buffer.from(bytes.buffer)
      if (ofSize) ofSize.push(whole)
      else free.set(size, [whole])
      freeBytes += size
    },
  }
}

const sizeFor = (length: number): number => Math.max(smallestBytes, 2 ** Math.ceil(Math.log2(length)))
