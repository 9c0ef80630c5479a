/** A SHA-1 kernel that runs in WebAssembly. Addresses are in bytes. */
export interface Kernel {
  readonly memory: Int32Array
  readonly hash: (...values: number[]) => void
  /** The value of an exported constant. */
  readonly constant: (name: string) => number
}

/** The part of WebAssembly that is used here; the engine compiles without the DOM's types. */
interface Wasm {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: Record<string, unknown> }
}

declare const atob: (base64: string) => string

/** WebAssembly memory is little-endian; on other hosts typed arrays would read its words reversed. */
const isLittleEndian = new Uint8Array(Int32Array.of(1).buffer)[0] === 1

/** Undefined where WebAssembly, or a feature that the kernel needs, is missing or forbidden. */
export function openKernel(base64: string): Kernel | undefined {
  const wasm = (globalThis as unknown as { WebAssembly?: Wasm }).WebAssembly
  if (wasm === undefined || !isLittleEndian) return undefined
  try {
    const bytes = Uint8Array.from(atob(base64), character => character.charCodeAt(0))
    const { exports } = new wasm.Instance(new wasm.Module(bytes))
    return {
      memory: new Int32Array((exports.memory as { buffer: ArrayBuffer }).buffer),
      hash: exports.hash as Kernel['hash'],
      constant: name => (exports[name] as { value: number }).value,
    }
  } catch {
    return undefined
  }
}
