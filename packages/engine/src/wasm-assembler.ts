/** As much of the WebAssembly binary format as `sha1-lanes.ts` needs, under the names that the text format has. */
export type Code = readonly number[]

const unsigned = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]

const signed = (value: number): number[] => {
  const rest = value >> 7
  const done = (rest === 0 && (value & 0x40) === 0) || (rest === -1 && (value & 0x40) !== 0)
  return done ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(rest)]
}

const vector = (opcode: number): Code => [0xfd, ...unsigned(opcode)]

/** A 16-byte access has the alignment 2^4. */
const access = (opcode: number, offset: number): Code => [...vector(opcode), 4, ...unsigned(offset)]

export const get = (local: number): Code => [0x20, ...unsigned(local)]
export const set = (local: number): Code => [0x21, ...unsigned(local)]
export const i32Const = (value: number): Code => [0x41, ...signed(value)]
export const i32Add: Code = [0x6a]
export const i32Sub: Code = [0x6b]
export const i32And: Code = [0x71]
export const i32Or: Code = [0x72]
export const i32Xor: Code = [0x73]
export const i32ShiftLeft: Code = [0x74]
export const i32RotateLeft: Code = [0x77]
export const i32LessUnsigned: Code = [0x49]
/** A 4-byte access has the alignment 2^2. */
export const i32Load = (offset: number): Code => [0x28, 2, ...unsigned(offset)]
export const i32Store = (offset: number): Code => [0x36, 2, ...unsigned(offset)]
export const load = (offset: number): Code => access(0x00, offset)
export const store = (offset: number): Code => access(0x0b, offset)
export const splat: Code = vector(0x11)
/** Picks 16 of the 32 bytes of two vectors. */
export const shuffle = (bytes: readonly number[]): Code => [...vector(0x0d), ...bytes]
export const or: Code = vector(0x50)
export const xor: Code = vector(0x51)
/** Takes the bits of the first where the third has ones, else those of the second. */
export const bitselect: Code = vector(0x52)
export const shiftLeft: Code = vector(0xab)
export const shiftRightUnsigned: Code = vector(0xad)
export const add: Code = vector(0xae)

/** Repeats the body as long as it leaves a number other than 0. */
export const loop = (...body: readonly Code[]): Code => [0x03, 0x40, ...body.flat(), 0x0d, 0x00, 0x0b]

const sized = (bytes: Code): number[] => [...unsigned(bytes.length), ...bytes]
const section = (id: number, bytes: Code): number[] => [id, ...sized(bytes)]
const list = (items: readonly Code[]): number[] => [...unsigned(items.length), ...items.flat()]
const name = (text: string): number[] => sized(Array.from(text, character => character.charCodeAt(0)))

export interface WasmFunction {
  readonly name: string
  readonly parameters: number
  /** How many more locals follow the parameters: integers first, then vectors. */
  readonly integers: number
  readonly vectors: number
  readonly code: Code
}

export interface WasmModule {
  readonly functions: readonly WasmFunction[]
  /** Of memory, 64 KiB each. The system gives them when they are first written to. */
  readonly pages: number
}

/** A module with functions of integer parameters, and memory; all are exported. */
export function assembleModule({ functions, pages }: WasmModule): Uint8Array {
  const i32 = 0x7f
  const v128 = 0x7b
  const types = functions.map(({ parameters }) => [0x60, parameters, ...Array(parameters).fill(i32), 0])
  const bodies = functions.map(({ integers, vectors, code }) =>
    sized([2, ...unsigned(integers), i32, ...unsigned(vectors), v128, ...code, 0x0b]),
  )
  const exported = functions.map((fn, index) => [...name(fn.name), 0, index])
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list(types)),
    ...section(3, list(functions.map((_, index) => [index]))),
    ...section(5, [1, 0, ...unsigned(pages)]),
    ...section(7, list([...exported, [...name('memory'), 2, 0]])),
    ...section(10, list(bodies)),
  ])
}

interface Wasm {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: Record<string, unknown> }
}

/** Takes places in bytes. */
export type Program = (...values: number[]) => void

export interface OpenedModule {
  readonly memory: Int32Array
  readonly programs: Readonly<Record<string, Program>>
}

/** Undefined where WebAssembly, or what the module needs of it, is missing or forbidden. */
export function openModule(bytes: Uint8Array): OpenedModule | undefined {
  const wasm = (globalThis as unknown as { WebAssembly?: Wasm }).WebAssembly
  if (wasm === undefined) return undefined
  try {
    const { exports } = new wasm.Instance(new wasm.Module(bytes))
    const { buffer } = exports.memory as { buffer: ArrayBuffer }
    return { memory: new Int32Array(buffer), programs: exports as OpenedModule['programs'] }
  } catch {
    return undefined
  }
}
