import { copyFragments } from './copy-fragments.generated.ts'

/**
 * Holds fragments of responses in the memory of a WebAssembly kernel, which copies hundreds of them in one call. A call of
 * `Buffer.set` for each takes several times as long, mostly waiting for the objects around the bytes (ADR 40).
 */
export interface FragmentStore {
  /** Returns the address of the fragment. */
  add(fragment: Buffer): number
  /** Copies `count` fragments, given as pairs of address and length, to the target. `bytes` is the sum of their lengths. */
  copy(list: Int32Array, count: number, bytes: number, target: Buffer, at: number): void
  /** The size of all fragments. */
  readonly size: number
  /** Forgets all fragments; their addresses are used again. */
  clear(): void
}

/** The part of WebAssembly that is used here; Node's types lack it. */
interface Wasm {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

interface Kernel {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): void }
  readonly copy: (list: number, count: number, target: number) => void
}

const pageBytes = 64 * 1024
/** The kernel reads the list as words of 4 bytes, two per fragment. */
const pairBytes = 8
/** The kernel copies whole blocks, so up to this many bytes more than a fragment has. */
const blockBytes = 64

/** Undefined where WebAssembly is missing or forbidden. */
export function openFragmentStore(): FragmentStore | undefined {
  try {
    const { Instance, Module } = WebAssembly as unknown as Wasm
    const module = new Module(Buffer.from(copyFragments, 'base64'))
    return createStore(new Instance(module).exports as Kernel)
  } catch {
    return undefined
  }
}

function createStore({ memory, copy }: Kernel): FragmentStore {
  let bytes = Buffer.from(memory.buffer)
  let words = new Int32Array(memory.buffer)
  let size = 0

  /** At least doubles the memory, so that few calls have to. */
  function reserve(needed: number): void {
    if (needed <= bytes.length) return
    memory.grow(Math.ceil(Math.max(needed - bytes.length, bytes.length) / pageBytes))
    bytes = Buffer.from(memory.buffer)
    words = new Int32Array(memory.buffer)
  }

  return {
    get size() {
      return size
    },
    add(fragment) {
      const address = size
      reserve(address + fragment.length)
      bytes.set(fragment, address)
      size += fragment.length
      return address
    },
    copy(list, count, length, target, at) {
      // The list and the copies are placed behind the fragments.
      const listAt = Math.ceil(size / pairBytes) * pairBytes
      const copiesAt = listAt + count * pairBytes
      reserve(copiesAt + length + blockBytes)
      words.set(list.subarray(0, count * 2), listAt / words.BYTES_PER_ELEMENT)
      copy(listAt, count, copiesAt)
      target.set(bytes.subarray(copiesAt, copiesAt + length), at)
    },
    clear() {
      size = 0
    },
  }
}
