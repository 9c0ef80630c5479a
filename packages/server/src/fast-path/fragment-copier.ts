/**
 * Copies pieces of memory one after another. To do so from JavaScript costs more for each piece than for its bytes, so a small program in
 * WebAssembly does it, for many pieces at a time. It is written out here in its instructions.
 */
export interface FragmentCopier {
  /** What there is; it is another array after `grow`. */
  bytes(): Uint8Array
  /** Answers false when there cannot be more. */
  grow(bytes: number): boolean
  /**
   * Copies so many pieces to `target`, one behind the other, and gives where they end. A list of them begins at `list`, four bytes each: twice
   * the place of a piece, to which 1 may be added. At its place a piece has its length, four bytes, and then its own bytes. Up to
   * `copyOverrun` bytes after the last one are written over.
   */
  copy(list: number, count: number, target: number): number
}

export const copyOverrun = 64
/** How many bytes the length of a piece takes. */
export const lengthBytes = 4

const pageBytes = 65_536
/** What there is from the beginning. */
const firstPages = 4
export const firstBytes = firstPages * pageBytes

const [LIST, COUNT, TARGET, SOURCE, AT] = [0, 1, 2, 3, 4] as const
const get = (local: number): number[] => [0x20, local]
const set = (local: number): number[] => [0x21, local]
const i32Add = 0x6a
const i32Sub = 0x6b
const i32LessUnsigned = 0x49
const i32ShiftRightUnsigned = 0x76
const i32Load = [0x28, 0, 0]
/** Numbers have seven bits a byte, of which the last tells the sign. */
const i32Const = (value: number): number[] => [0x41, (value & 0x7f) | 0x80, value >> 7]
const advance = (local: number, step: number): number[] => [...get(local), ...i32Const(step), i32Add, ...set(local)]
const copySixteen = (offset: number): number[] => [
  ...[...get(AT), ...get(SOURCE), 0xfd, 0x00, 0, lengthBytes + offset],
  ...[0xfd, 0x0b, 0, offset],
]
const one = [0x41, 1]
/** Repeats the body as long as it leaves a number other than 0. */
const loop = (...body: readonly number[]): number[] => [0x03, 0x40, ...body, 0x0d, 0x00, 0x0b]

const program = [
  ...loop(
    ...[...get(LIST), ...i32Load, ...one, i32ShiftRightUnsigned, ...set(SOURCE), ...get(TARGET), ...set(AT)],
    ...[...get(TARGET), ...get(SOURCE), ...i32Load, i32Add, ...set(TARGET)],
    ...loop(
      ...[...copySixteen(0), ...copySixteen(16), ...copySixteen(32), ...copySixteen(48)],
      ...[...advance(SOURCE, 64), ...advance(AT, 64), ...get(AT), ...get(TARGET), i32LessUnsigned],
    ),
    ...advance(LIST, 4),
    ...[...get(COUNT), ...one, i32Sub, ...set(COUNT), ...get(COUNT)],
  ),
  ...get(TARGET),
]

const sized = (bytes: readonly number[]): number[] => {
  if (bytes.length > 0x7f) return [(bytes.length & 0x7f) | 0x80, bytes.length >> 7, ...bytes]
  return [bytes.length, ...bytes]
}
const section = (id: number, bytes: readonly number[]): number[] => [id, ...sized(bytes)]
const name = (text: string): number[] => sized([...Buffer.from(text)])
const i32 = 0x7f

/** One function of three integers that gives one, and memory that may grow; both are exported. */
const moduleBytes = Uint8Array.from([
  ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, [1, 0x60, 3, i32, i32, i32, 1, i32]),
  ...section(3, [1, 0]),
  ...section(5, [1, 0, firstPages]),
  ...section(7, [2, ...name('copy'), 0, 0, ...name('memory'), 2, 0]),
  ...section(10, [1, ...sized([1, 2, i32, ...program, 0x0b])]),
])

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number }
  copy: FragmentCopier['copy']
}

/** As much of WebAssembly as is needed here. */
interface Wasm {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

/** Where WebAssembly is switched off or has no vectors, JavaScript does as well. */
export function openFragmentCopier(): FragmentCopier {
  try {
    const { Instance, Module } = WebAssembly as unknown as Wasm
    return inWebAssembly(new Instance(new Module(moduleBytes)).exports as Exports)
  } catch {
    return inJavaScript()
  }
}

function inWebAssembly({ memory, copy }: Exports): FragmentCopier {
  return {
    copy,
    bytes: () => new Uint8Array(memory.buffer),
    grow(bytes) {
      try {
        memory.grow(Math.ceil(bytes / pageBytes))
        return true
      } catch {
        return false
      }
    },
  }
}

export function inJavaScript(): FragmentCopier {
  let bytes = new Uint8Array(firstBytes)
  return {
    bytes: () => bytes,
    grow(more) {
      const larger = new Uint8Array(bytes.length + Math.ceil(more / pageBytes) * pageBytes)
      larger.set(bytes)
      bytes = larger
      return true
    },
    copy(list, count, target) {
      const memory = new DataView(bytes.buffer)
      let at = target
      for (let index = 0; index < count; index++) {
        const place = memory.getInt32(list + index * 4, true) >>> 1
        const from = place + lengthBytes
        const length = memory.getInt32(place, true)
        bytes.copyWithin(at, from, from + length)
        at += length
      }
      return at
    },
  }
}
