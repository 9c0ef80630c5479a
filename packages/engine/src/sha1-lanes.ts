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
  i32Load,
  i32Or,
  i32ShiftLeft,
  i32Store,
  i32Sub,
  load,
  loop,
  or,
  set,
  shiftLeft,
  shiftRightUnsigned,
  shuffle,
  splat,
  store,
  xor,
} from './wasm-assembler.ts'

/**
 * SHA-1 of four messages at once, in the four lanes of WebAssembly's vectors. The program is put together here from its
 * instructions, so there is no binary to trust.
 *
 * A message is a prefix and a tail, each packed into words. It lies in a record: where its tail is and where that goes, in bytes,
 * the length of the message in bits, a word that is not used, and then the words of the message, of which only those of the prefix
 * are there. The program puts the tail after them: many messages share one, and four words are copied at a time.
 */
export interface Lanes {
  readonly memory: Int32Array
  /**
   * Hashes so many messages of so many blocks each, whose records follow one another from the given word on. Afterwards every fourth record
   * begins with the first words of four hashes, followed by the second words. The record after the last group of four may be in use, those
   * that the last group lacks may not.
   */
  hash(start: number, count: number, blocks: number): void
}

/** The first word that is free; the schedule is before it. */
export const freeStart = 320
/** How many words there are. */
export const memoryWords = 16_384
/** What a tail is copied from: filled up with zeros, it is enough for two blocks. */
export const tailWords = 32

const headWords = 4

/** The last vector of a tail may go beyond the end of its message. */
export const recordWords = (blocks: number): number => headWords + blocks * 16 + 4

/** Lays down a record. The prefix is packed in `prefixes` from `from` on, the tail at `tail`; both lengths are in bytes. */
export function layRecord(
  memory: Int32Array,
  at: number,
  prefixes: Int32Array,
  from: number,
  prefixLength: number,
  tail: number,
  length: number,
): void {
  const message = at + headWords
  const whole = prefixLength >> 2
  memory[at] = tail * 4
  memory[at + 1] = (message + whole) * 4
  memory[at + 2] = length * 8
  for (let word = 0; word <= whole; word++) memory[message + word] = prefixes[from + word]!
}

/** Lays down the record of a message whose words are all there, from `wholeMessageAt` on. Its tail goes where nobody reads. */
export function layWholeRecord(memory: Int32Array, at: number, blocks: number, length: number): void {
  memory[at] = 0
  memory[at + 1] = (at + headWords + blocks * 16) * 4
  memory[at + 2] = length * 8
}

export const wholeMessageAt = (record: number): number => record + headWords

const scheduleBytes = 80 * 16
const headBytes = headWords * 4

/** The locals of the program. */
const START = 0
const COUNT = 1
const GROUPS = 2
const BLOCKS = 3
/** Of a message, and of a record. */
const MESSAGE_BYTES = 4
const RECORD_BYTES = 5
const LEFT = 6
const AT = 7
const TAIL = 8
const RECORDS = [9, 10, 11, 12] as const
const [A, B, C, D, E] = [13, 14, 15, 16, 17] as const
const STATE = [18, 19, 20, 21, 22] as const
const CONSTANT = 23
const WORD = 24
const ROWS = [25, 26, 27, 28] as const

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

const move = (local: number, bytes: number): Code => code(get(local), i32Const(bytes), i32Add, set(local))

const countDown = (local: number): Code => code(get(local), i32Const(1), i32Sub, set(local), get(local))

/** The first word of a tail shares its place with the last bytes of the prefix. */
const joinTail: Code = code(
  code(get(RECORDS[0]), i32Load(0), set(TAIL), get(RECORDS[0]), i32Load(4), set(AT)),
  code(get(AT), get(AT), i32Load(0), get(TAIL), i32Load(0), i32Or),
  loop(
    code(get(AT), get(TAIL), load(0), store(0), move(AT, 16), move(TAIL, 16)),
    code(get(AT), get(RECORDS[0]), get(MESSAGE_BYTES), i32Add, i32Const(headBytes), i32Add, i32LessUnsigned),
  ),
  i32Store(0),
  code(get(RECORDS[0]), get(MESSAGE_BYTES), i32Add, get(RECORDS[0]), i32Load(8), i32Store(headBytes - 4)),
)

const joinTails: Code = code(
  code(get(START), set(RECORDS[0])),
  loop(joinTail, code(get(RECORDS[0]), get(RECORD_BYTES), i32Add, set(RECORDS[0])), countDown(COUNT)),
)

const openRecords: Code = code(
  code(get(START), set(RECORDS[0])),
  ...[1, 2, 3].map(lane => code(get(RECORDS[lane - 1]!), get(RECORD_BYTES), i32Add, set(RECORDS[lane]!))),
)

const bytesOf = (size: number, ...parts: readonly number[]): number[] =>
  parts.flatMap(part => Array.from({ length: size }, (_, byte) => part * size + byte))

const lowWords = shuffle(bytesOf(4, 0, 4, 1, 5))
const highWords = shuffle(bytesOf(4, 2, 6, 3, 7))
const lowHalves = shuffle(bytesOf(8, 0, 2))
const highHalves = shuffle(bytesOf(8, 1, 3))

/** Four words of each message become four vectors of one word each. */
const turnWords: Code = code(
  ...RECORDS.map((record, lane) => code(get(record), load(headBytes), set(ROWS[lane]!), move(record, 16))),
  code(get(ROWS[0]), get(ROWS[1]), lowWords, set(A), get(ROWS[0]), get(ROWS[1]), highWords, set(B)),
  code(get(ROWS[2]), get(ROWS[3]), lowWords, set(C), get(ROWS[2]), get(ROWS[3]), highWords, set(D)),
  code(get(AT), get(A), get(C), lowHalves, store(0), get(AT), get(A), get(C), highHalves, store(16)),
  code(get(AT), get(B), get(D), lowHalves, store(32), get(AT), get(B), get(D), highHalves, store(48)),
)

const copyBlock: Code = code(i32Const(0), set(AT), loop(turnWords, advance(AT, 64, 256)))

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

const program: Code = code(
  code(get(BLOCKS), i32Const(6), i32ShiftLeft, set(MESSAGE_BYTES)),
  code(get(MESSAGE_BYTES), i32Const(headBytes + 16), i32Add, set(RECORD_BYTES)),
  joinTails,
  loop(
    ...initialState.map((word, index) => code(i32Const(word), splat, set(STATE[index]!))),
    openRecords,
    code(get(BLOCKS), set(LEFT)),
    loop(compressBlock, countDown(LEFT)),
    code(get(START), get(STATE[0]), store(0), get(START), get(STATE[1]), store(16)),
    code(get(START), get(RECORD_BYTES), i32Const(2), i32ShiftLeft, i32Add, set(START)),
    countDown(GROUPS),
  ),
)

/** The bytes of the module. Browsers compile at most 4 KiB at once on the page's own thread. */
export function lanesModule(): Uint8Array {
  return assembleModule({ name: 'hash', parameters: 4, integers: 9, vectors: 16, code: program })
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
    const run = exports.hash as (startBytes: number, count: number, groups: number, blocks: number) => void
    return {
      memory: new Int32Array(buffer),
      hash: (start, count, blocks) => run(start * 4, count, (count + 3) >> 2, blocks),
    }
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
