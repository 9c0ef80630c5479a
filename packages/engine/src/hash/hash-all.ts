import { bucketFrom, bucketOf } from './bucket.ts'
import { type HashBatch, rowWords } from './hash-batch.ts'
import type { Salt } from './message.ts'
import { PackedTail } from './packed-tail.ts'
import { type Kernel, openKernel } from './sha1-kernel.ts'
import { simdKernel } from './sha1-kernels.generated.ts'

const lanes = 4
/** The kernel hashes messages of up to two blocks of 64 bytes, of which SHA-1 uses nine for padding. */
const blocksMax = 2
const bytesMax = (blocks: number): number => blocks * 64 - 9
const prefixBytesMax = rowWords * 4 - 1

/**
 * Writes the bucket of each member of the batch to its position in `buckets`. Hashes four messages at a time with SIMD;
 * long messages, and all of them where WebAssembly is missing or forbidden, one at a time.
 */
export function hashAll(batch: HashBatch, identifier: string, salt: Salt, buckets: Float64Array): void {
  const { members } = batch
  const hasher = members.length < 2 ? undefined : sharedHasher()
  const hashed = hasher === undefined ? 0 : hasher.hash(batch, identifier, salt, buckets)
  for (let index = hashed; index < members.length; index++) {
    const { prefix, position } = members[index]!
    buckets[position] = bucketOf(prefix, identifier, salt)
  }
}

/** Fills the memory of the SIMD kernel and reads its results. */
class SimdHasher {
  readonly #kernel: Kernel
  readonly #tail: PackedTail
  /** In words. */
  readonly #prefixesStart: number
  readonly #lengthsStart: number
  readonly #resultsStart: number
  readonly #capacity: number

  constructor(kernel: Kernel) {
    const wordOf = (name: string): number => kernel.constant(name) >> 2
    this.#kernel = kernel
    this.#tail = new PackedTail(kernel.memory, wordOf('tails'))
    this.#prefixesStart = wordOf('prefixes')
    this.#lengthsStart = wordOf('lengths')
    this.#resultsStart = wordOf('results')
    this.#capacity = kernel.constant('capacity')
  }

  /** Returns how many members have been hashed; the messages of the others are too long. */
  hash(batch: HashBatch, identifier: string, salt: Salt, buckets: Float64Array): number {
    this.#tail.open(identifier, salt)
    let start = 0
    for (let blocks = 1; blocks <= blocksMax; blocks++) {
      const end = batch.countUpTo(Math.min(bytesMax(blocks) - this.#tail.length, prefixBytesMax))
      for (; start < end; start = Math.min(start + this.#capacity, end)) {
        this.#run(batch, start, Math.min(start + this.#capacity, end), blocks, buckets)
      }
    }
    return start
  }

  #run(
    { rows, lengths, positions }: HashBatch,
    start: number,
    end: number,
    blocks: number,
    buckets: Float64Array,
  ): void {
    const { memory, hash } = this.#kernel
    memory.set(rows.subarray(start * rowWords, end * rowWords), this.#prefixesStart)
    memory.set(lengths.subarray(start, end), this.#lengthsStart)
    hash(end - start, blocks, this.#tail.length)
    for (let index = start, result = 0; index < end; index++, result++) {
      const at = this.#resultsStart + (result >> 2) * lanes * 2 + (result & 3)
      buckets[positions[index]!] = bucketFrom(memory[at]!, memory[at + lanes]!)
    }
  }
}

let shared: SimdHasher | null | undefined

/** Opened at the first call; a runtime that forbids WebAssembly is not asked again. */
function sharedHasher(): SimdHasher | undefined {
  if (shared === undefined) {
    const kernel = openKernel(simdKernel)
    shared = kernel === undefined ? null : new SimdHasher(kernel)
  }
  return shared ?? undefined
}
