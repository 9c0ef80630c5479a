/** Memory for a response that is being assembled. */
export interface ResponseMemory {
  /** At least this many bytes, with unspecified content, until the next call. */
  take(bytes: number): Buffer
}

/**
 * Collects responses and writes them together, when their memory is full or the tick of the event loop ends. Written in turn with
 * evaluations, each would evict the code of the other from the caches of the processor, and wake up a client that has gone to sleep again.
 *
 * Responses are assembled one behind the other in the same memory. What `write` could send at once has been copied by the operating
 * system, so the memory is used again: no allocation per response, and no garbage.
 */
export interface ResponseBatch extends ResponseMemory {
  /** Adds a response that was assembled in the memory taken last. */
  add(response: Buffer, recipient: Recipient): void
  /** Writes all responses. */
  flush(): void
}

export interface Recipient {
  /** Returns whether the operating system has taken all of it. Otherwise its memory stays in use. */
  write(response: Buffer): boolean
}

const memoryBytesMin = 256 * 1024
/** Larger responses get memory of their own, so that a single one does not occupy it for good. */
const memoryBytesMax = 1024 * 1024

export function createResponseBatch(): ResponseBatch {
  let memory: Buffer | undefined
  /** How much of the memory is occupied by responses that have not been written. */
  let used = 0
  const responses: Buffer[] = []
  const recipients: Recipient[] = []

  function flush(): void {
    for (let index = 0; index < responses.length; index++) {
      if (!recipients[index]!.write(responses[index]!)) memory = undefined
    }
    responses.length = 0
    recipients.length = 0
    used = 0
  }

  return {
    take(bytes) {
      if (bytes > memoryBytesMax) return Buffer.allocUnsafeSlow(bytes)
      if (memory !== undefined && used + bytes > memory.length) flush()
      if (memory === undefined || memory.length < bytes) {
        let size = memoryBytesMin
        while (size < bytes) size *= 2
        memory = Buffer.allocUnsafeSlow(size)
      }
      return used === 0 ? memory : memory.subarray(used)
    },
    add(response, recipient) {
      responses.push(response)
      recipients.push(recipient)
      if (response.buffer === memory?.buffer) used = response.byteOffset + response.length
      else flush()
    },
    flush,
  }
}
