/** As much of the WebAssembly binary format as is needed here, under the names that the text format has. */
/** Bytes, and what is made of bytes: everything is put one after the other once, in the end. */
export type Code = readonly (number | Code)[]

/** The types of values. */
export const i32 = 0x7f
export const f64 = 0x7c
export const v128 = 0x7b
export type ValueType = typeof i32 | typeof f64 | typeof v128

/** One after the other. */
export const code = (...parts: readonly Code[]): Code => parts

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
/** Takes what was computed last, or the value that is given. */
export const set = (local: number, value: Code = []): Code => [value, 0x21, ...unsigned(local)]
export const i32Const = (value: number): Code => [0x41, ...signed(value)]
export const i32Add: Code = [0x6a]
export const i32Sub: Code = [0x6b]
export const i32Multiply: Code = [0x6c]
export const i32And: Code = [0x71]
export const i32Or: Code = [0x72]
export const i32Xor: Code = [0x73]
export const i32ShiftLeft: Code = [0x74]
export const i32ShiftRight: Code = [0x75]
export const i32ShiftRightUnsigned: Code = [0x76]
export const i32RotateLeft: Code = [0x77]
export const i32Equal: Code = [0x46]
export const i32NotEqual: Code = [0x47]
export const i32LessUnsigned: Code = [0x49]
export const i32AtLeastUnsigned: Code = [0x4f]
/** A 4-byte access has the alignment 2^2. */
export const i32Load = (offset: number): Code => [0x28, 2, ...unsigned(offset)]
export const i32Store = (offset: number): Code => [0x36, 2, ...unsigned(offset)]
export const i32LoadByte = (offset: number): Code => [0x2d, 0, ...unsigned(offset)]
export const i32StoreByte = (offset: number): Code => [0x3a, 0, ...unsigned(offset)]
/** Doubles lie where words may lie. */
export const f64Load = (offset: number): Code => [0x2b, 2, ...unsigned(offset)]
export const f64Const = (value: number): Code => [0x44, ...new Uint8Array(Float64Array.of(value).buffer)]
export const f64FromUnsigned: Code = [0xb8]
export const f64Add: Code = [0xa0]
export const f64Multiply: Code = [0xa2]
export const f64Equal: Code = [0x61]
export const f64Less: Code = [0x63]
export const f64AtMost: Code = [0x65]
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
export const loop = (...body: readonly Code[]): Code => [0x03, 0x40, body, 0x0d, 0x00, 0x0b]

/** Repeats the body as long as the condition leaves a number other than 0 before it. */
export const asLongAs = (condition: Code, ...body: readonly Code[]): Code => [
  ...[0x02, 0x40, 0x03, 0x40, condition, 0x45, 0x0d, 0x01],
  ...[body, 0x0c, 0x00, 0x0b, 0x0b],
]

/** Does the one when the condition leaves a number other than 0, else the other. */
export const when = (condition: Code, then: Code, otherwise: Code = []): Code => [
  ...[condition, 0x04, 0x40, then],
  ...(otherwise.length === 0 ? [] : [0x05, otherwise]),
  0x0b,
]

/** Takes two numbers and a third: the first one when that is not 0, else the second. There is no branch that could be guessed wrong. */
export const select: Code = [0x1b]

/** Ends the function with the value that was computed last. */
export const giveBack: Code = [0x0f]
/** Functions are numbered in their order, imported ones first. */
export const call = (index: number): Code => [0x10, ...unsigned(index)]
/** Takes a place, a byte, and how many of them to write. */
export const fill: Code = [0xfc, 0x0b, 0x00]

function put(code: Code, bytes: number[]): number[] {
  for (let index = 0; index < code.length; index++) {
    const part = code[index]!
    if (typeof part === 'number') bytes.push(part)
    else put(part, bytes)
  }
  return bytes
}

function sized(code: Code): Code {
  const bytes = put(code, [])
  return [...unsigned(bytes.length), bytes]
}

const section = (id: number, code: Code): Code => [id, sized(code)]
const list = (items: readonly Code[]): Code => [...unsigned(items.length), items]
const name = (text: string): Code => sized(Array.from(text, character => character.charCodeAt(0)))

export interface Signature {
  readonly parameters: readonly ValueType[]
  readonly results: readonly ValueType[]
}

export interface WasmFunction extends Signature {
  readonly name: string
  /** More locals that follow the parameters. */
  readonly locals: readonly ValueType[]
  readonly code: Code
}

export interface WasmModule {
  /** Functions that are given when the module is opened. */
  readonly imports?: readonly (Signature & { readonly name: string })[]
  readonly functions: readonly WasmFunction[]
  /** Of memory, 64 KiB each. The system gives them when they are first written to. */
  readonly pages: number
}

/** All imports come from one place of this name. */
const importsName = 'i'

/** A module with functions and memory; all are exported. */
export function assembleModule({ imports = [], functions, pages }: WasmModule): Uint8Array {
  const types = [...imports, ...functions].map(({ parameters, results }) => [
    0x60,
    typesOf(parameters),
    typesOf(results),
  ])
  const bodies = functions.map(({ locals, code }) => sized([list(locals.map(type => [1, type])), code, 0x0b]))
  const imported = imports.map((fn, index) => [name(importsName), name(fn.name), 0, index])
  const exported = functions.map((fn, index) => [name(fn.name), 0, imports.length + index])
  const module = [
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    section(1, list(types)),
    section(2, list(imported)),
    section(3, list(functions.map((_, index) => [imports.length + index]))),
    section(5, [1, 0, ...unsigned(pages)]),
    section(7, list([...exported, [name('memory'), 2, 0]])),
    section(10, list(bodies)),
  ]
  return new Uint8Array(put(module, []))
}

const typesOf = (types: readonly ValueType[]): Code => list(types.map(type => [type]))

interface Wasm {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { exports: Record<string, unknown> }
}

/** Takes places in bytes. Without a result it gives undefined. */
export type Program = (...values: number[]) => number

export interface OpenedModule {
  readonly memory: Int32Array
  readonly programs: Readonly<Record<string, Program>>
}

/** WebAssembly has the lowest byte of a word first. Elsewhere typed arrays would not see its words. */
const hasLowestByteFirst = new Uint8Array(Int32Array.of(1).buffer)[0] === 1

/** Undefined where WebAssembly, or what the module needs of it, is missing or forbidden. */
export function openModule(
  bytes: Uint8Array,
  imports: Readonly<Record<string, Program>> = {},
): OpenedModule | undefined {
  const wasm = (globalThis as unknown as { WebAssembly?: Wasm }).WebAssembly
  if (wasm === undefined || !hasLowestByteFirst) return undefined
  try {
    const { exports } = new wasm.Instance(new wasm.Module(bytes), { [importsName]: imports })
    const { buffer } = exports.memory as { buffer: ArrayBuffer }
    return { memory: new Int32Array(buffer), programs: exports as OpenedModule['programs'] }
  } catch {
    return undefined
  }
}
