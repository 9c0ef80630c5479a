import { initialState } from './sha1.ts'
import {
  add,
  assembleModule,
  bitselect,
  type Code,
  get,
  i32Add,
  i32Const,
  i32LessUnsigned,
  i32Sub,
  load,
  loop,
  or,
  set,
  shiftLeft,
  shiftRightUnsigned,
  splat,
  store,
  xor,
} from './wasm-assembler.ts'

/**
 * SHA-1 of four messages at once, in the four lanes of WebAssembly's vectors. The program is put together here from its
 * instructions, so there is no binary to trust.
 */
export interface Lanes {
  /** Word w of the message in lane l, of the group that begins at g, is at g + 4 w + l. */
  readonly memory: Int32Array
  /**
   * Hashes groups of four messages of so many blocks each, from the given word on. Afterwards a group begins with the
   * first words of its four hashes, followed by the second words.
   */
  hash(start: number, groups: number, blocks: number): void
}

/** The first word that may hold messages; the schedule is before it. */
export const messagesStart = 512
/** The words of a group for each block. */
export const groupWords = 64
/** Where a message of up to two blocks can be hashed by itself, whatever is gathered before it. */
export const aloneStart = 16_384 - 2 * groupWords

const scheduleBytes = 80 * 16
const blockBytes = groupWords * 4

/** The locals of the program. */
const START = 0
const GROUPS = 1
const BLOCKS = 2
const GROUP = 3
const LEFT = 4
const AT = 5
const [A, B, C, D, E] = [6, 7, 8, 9, 10] as const
const STATE = [11, 12, 13, 14, 15] as const
const CONSTANT = 16
const WORD = 17

const code = (...parts: readonly Code[]): Code => parts.flat()

const rotate = (local: number, bits: number): Code =>
  code(get(local), i32Const(bits), shiftLeft, get(local), i32Const(32 - bits), shiftRightUnsigned, or)

type Mix = (b: number, c: number, d: number) => Code

const choose: Mix = (b, c, d) => code(get(c), get(d), get(b), bitselect)
const parity: Mix = (b, c, d) => code(get(b), get(c), xor, get(d), xor)
const majority: Mix = (b, c, d) => code(get(d), get(b), get(b), get(c), xor, bitselect)

function round(mix: Mix, index: number, [a, b, c, d, e]: readonly [number, number, number, number, number]): Code {
  const sum = code(rotate(a, 5), mix(b, c, d), add, get(e), add, get(CONSTANT), add, get(AT), load(index * 16), add)
  return code(sum, set(e), rotate(b, 30), set(b))
}

/** Advances a local and leaves whether it is still below the end. */
const advance = (local: number, step: number, end: number): Code =>
  code(get(local), i32Const(step), i32Add, set(local), get(local), i32Const(end), i32LessUnsigned)

/** Twenty rounds, five at a time, so that the variables change places without being moved. */
function phase(number: number, mix: Mix, constant: number): Code {
  const five = code(
    round(mix, 0, [A, B, C, D, E]),
    round(mix, 1, [E, A, B, C, D]),
    round(mix, 2, [D, E, A, B, C]),
    round(mix, 3, [C, D, E, A, B]),
    round(mix, 4, [B, C, D, E, A]),
  )
  const begin = code(i32Const(constant | 0), splat, set(CONSTANT), i32Const(number * 20 * 16), set(AT))
  return code(begin, loop(five, advance(AT, 5 * 16, (number + 1) * 20 * 16)))
}

const copyBlock: Code = Array.from({ length: 16 }, (_, word) =>
  code(i32Const(0), get(START), load(word * 16), store(word * 16)),
).flat()

const expandWord = (offset: number): Code => {
  const before = (words: number) => code(get(AT), load((16 - words) * 16 + offset))
  const mixed = code(before(3), before(8), xor, before(14), xor, before(16), xor, set(WORD))
  return code(mixed, get(AT), rotate(WORD, 1), store(256 + offset))
}

const expand: Code = code(
  i32Const(0),
  set(AT),
  loop(expandWord(0), expandWord(16), advance(AT, 32, scheduleBytes - 256)),
)

const working = [A, B, C, D, E] as const

const compressBlock: Code = code(
  copyBlock,
  expand,
  ...working.map((local, index) => code(get(STATE[index]!), set(local))),
  phase(0, choose, 0x5a827999),
  phase(1, parity, 0x6ed9eba1),
  phase(2, majority, 0x8f1bbcdc),
  phase(3, parity, 0xca62c1d6),
  ...working.map((local, index) => code(get(STATE[index]!), get(local), add, set(STATE[index]!))),
)

const countDown = (local: number): Code => code(get(local), i32Const(1), i32Sub, set(local), get(local))

const program: Code = loop(
  ...initialState.map((word, index) => code(i32Const(word), splat, set(STATE[index]!))),
  code(get(START), set(GROUP), get(BLOCKS), set(LEFT)),
  loop(compressBlock, code(get(START), i32Const(blockBytes), i32Add, set(START)), countDown(LEFT)),
  code(get(GROUP), get(STATE[0]), store(0), get(GROUP), get(STATE[1]), store(16)),
  countDown(GROUPS),
)

/** The bytes of the module. Browsers compile at most 4 KiB at once on the page's own thread. */
export function lanesModule(): Uint8Array {
  return assembleModule({ name: 'hash', parameters: 3, integers: 3, vectors: 12, code: program })
}

interface Wasm {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: Record<string, unknown> }
}

/** Undefined where WebAssembly or its vectors are missing or forbidden; plain JavaScript does as well. */
export function openLanes(): Lanes | undefined {
  const wasm = (globalThis as unknown as { WebAssembly?: Wasm }).WebAssembly
  if (wasm === undefined) return undefined
  try {
    const { exports } = new wasm.Instance(new wasm.Module(lanesModule()))
    const { buffer } = exports.memory as { buffer: ArrayBuffer }
    const run = exports.hash as (startBytes: number, groups: number, blocks: number) => void
    return { memory: new Int32Array(buffer), hash: (start, groups, blocks) => run(start * 4, groups, blocks) }
  } catch {
    return undefined
  }
}

let shared: Lanes | null | undefined

/** The lanes that everything in this process hashes with, one thing at a time; opened when they are first needed. */
export function sharedLanes(): Lanes | undefined {
  if (shared === undefined) shared = openLanes() ?? null
  return shared ?? undefined
}
