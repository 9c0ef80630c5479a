import {
  blockCount,
  type PackedPrefix,
  packPrefix,
  paddedMessage,
  ROLLOUT_SALT,
  type Salt,
  saltBytes,
  saltLengths,
  VARIANT_SALT,
} from './message.ts'
import { compress, initialState } from './sha1.ts'
import { type Kernel, openKernel } from './sha1-kernel.ts'
import { scalarKernel } from './sha1-kernels.generated.ts'

/** A bucket is a number from 0 to 1: the first 15 hexadecimal digits of the SHA-1 of a message, divided by 2^60. */

/** The memory of the scalar kernel, in words: the schedule, the message, the first two words of its hash. */
const messageStart = 80
const kernelBlocksMax = 16
const resultStart = messageStart + kernelBlocksMax * 16

let shared: Kernel | null | undefined
/** The kernel's memory as bytes. */
let kernelBytes: Uint8Array = new Uint8Array(0)

/** Opened at the first call; a runtime that forbids WebAssembly is not asked again. */
function sharedKernel(): Kernel | undefined {
  if (shared === undefined) {
    shared = openKernel(scalarKernel) ?? null
    if (shared !== null) kernelBytes = new Uint8Array(shared.memory.buffer)
  }
  return shared ?? undefined
}

/** Hashes one message. For many messages about one identifier, `hashAll` is faster. */
export function bucketOf(prefix: PackedPrefix, identifier: string, salt: Salt): number {
  const kernel = sharedKernel()
  const blocks = blockCount(prefix.length + identifier.length + saltLengths[salt])
  if (kernel === undefined || blocks > kernelBlocksMax) return bucketInJavaScript(prefix, identifier, salt)
  if (writeAsciiMessage(prefix, identifier, salt, kernel, blocks)) return runKernel(kernel, blocks)
  const message = paddedMessage(prefix, identifier, salt)
  if (message.length > kernelBlocksMax * 16) return hashInJavaScript(message)
  kernel.memory.set(message, messageStart)
  return runKernel(kernel, message.length >> 4)
}

/** Writes the message without an intermediate array. Returns false when the identifier is not ASCII. */
function writeAsciiMessage(
  { words, length }: PackedPrefix,
  identifier: string,
  salt: Salt,
  { memory }: Kernel,
  blocks: number,
): boolean {
  const bytes = kernelBytes
  const end = messageStart + blocks * 16
  let word = messageStart
  for (let index = 0; index < words.length; index++) memory[word++] = words[index]!
  while (word < end) memory[word++] = 0
  const salted = saltBytes[salt]
  let at = messageStart * 4 + length
  let bits = 0
  for (let index = 0; index < identifier.length; index++) {
    const code = identifier.charCodeAt(index)
    bits |= code
    // SHA-1 words are big-endian and the memory is little-endian: the byte order within a word is reversed.
    bytes[at++ ^ 3] = code
  }
  for (let index = 0; index < salted.length; index++) bytes[at++ ^ 3] = salted[index]!
  bytes[at ^ 3] = 0x80
  memory[end - 1] = (at - messageStart * 4) * 8
  return bits < 0x80
}

function runKernel({ memory, hash }: Kernel, blocks: number): number {
  hash(messageStart * 4, blocks, resultStart * 4)
  return bucketFrom(memory[resultStart]!, memory[resultStart + 1]!)
}

export function bucketInJavaScript(prefix: PackedPrefix, identifier: string, salt: Salt): number {
  return hashInJavaScript(paddedMessage(prefix, identifier, salt))
}

function hashInJavaScript(message: Int32Array): number {
  const state = digest(message)
  return bucketFrom(state[0]!, state[1]!)
}

function digest(message: Int32Array): Int32Array {
  const state = Int32Array.from(initialState)
  for (let start = 0; start < message.length; start += 16) compress(state, message, start)
  return state
}

/** The first 32 bits of the SHA-1 digest of prefix and identifier. */
export function firstWordOf(prefix: PackedPrefix, identifier: string): number {
  return digest(paddedMessage(prefix, identifier, ROLLOUT_SALT))[0]!
}

/** Rounds once, as the PostHog SDKs do: 60 bits do not fit into a double. */
export function bucketFrom(first: number, second: number): number {
  return ((first >>> 0) * 2 ** 28 + (second >>> 4)) * 2 ** -60
}

/** The prefix of a holdout's message; it is the same for all flags. */
export const holdoutPrefix: PackedPrefix = packPrefix('holdout-')

export function flagPrefix(flagKey: string): PackedPrefix {
  return packPrefix(`${flagKey}.`)
}

/** Compared with a condition's rollout percentage. */
export function rolloutBucket(flagKey: string, identifier: string): number {
  return bucketOf(flagPrefix(flagKey), identifier, ROLLOUT_SALT)
}

/** Selects a variant. */
export function variantBucket(flagKey: string, identifier: string): number {
  return bucketOf(flagPrefix(flagKey), identifier, VARIANT_SALT)
}

/** Compared with a holdout's percentage. */
export function holdoutBucket(identifier: string): number {
  return bucketOf(holdoutPrefix, identifier, ROLLOUT_SALT)
}
