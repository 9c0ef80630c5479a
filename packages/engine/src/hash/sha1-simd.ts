import { initialState } from './sha1.ts'
import {
  add,
  bitselect,
  type Code,
  code,
  get,
  i32,
  i32Add,
  i32And,
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
  v128,
  type WasmFunction,
  xor,
} from './wasm-assembler.ts'

/**
 * SHA-1 of four messages at once, in the four lanes of WebAssembly's vectors. The programs are put together here from their
 * instructions, so there is no binary to trust. They are part of a larger one, whose memory they use from its beginning to `freeStart`.
 */

/** More messages than these are not joined at a time. */
export const joinMax = 64
/** What a tail is copied from: filled up with zeros, it is enough for two blocks. */
export const tailWords = 32

const scheduleWords = 320
/** Where joined messages are, in words of the memory. What is copied may go beyond the end of the last one by a tail. */
export const messagesStart = scheduleWords
/** The first word that is free. */
export const freeStart = messagesStart + joinMax * 32 + tailWords

/** A beginning: how many bytes further on its words are, and how many bytes it has. */
const beginning = { offset: 0, length: 4 } as const
/** What must be there after the last word of a beginning: it is copied as if it were two blocks. */
export const beginningOverrun = 32

const move = (local: number, bytes: number): Code => code(get(local), i32Const(bytes), i32Add, set(local))

const countDown = (local: number): Code => code(get(local), i32Const(1), i32Sub, set(local), get(local))

/** Copies 64 bytes and goes on behind them. */
const copyBlock = (from: number, to: number): Code =>
  code(...[0, 16, 32, 48].map(at => code(get(to), get(from), load(at), store(at))), move(from, 64), move(to, 64))

/** The locals of `join`, of which the first five are its parameters. */
const join = {
  list: 0,
  count: 1,
  blockBytes: 2,
  tails: 3,
  tailLength: 4,
  message: 5,
  end: 6,
  length: 7,
  from: 8,
  to: 9,
} as const

const untilEnd = code(get(join.to), get(join.end), i32LessUnsigned)

const joinOne: Code = code(
  code(get(join.message), get(join.blockBytes), i32Add, set(join.end)),
  code(get(join.list), i32Load(0), set(join.from)),
  code(get(join.from), i32Load(beginning.length), set(join.length)),
  code(get(join.from), get(join.from), i32Load(beginning.offset), i32Add, set(join.from)),
  code(get(join.message), set(join.to)),
  loop(copyBlock(join.from, join.to), untilEnd),
  // The first word of the tail shares its place with the last bytes of the beginning.
  code(get(join.message), get(join.length), i32Const(-4), i32And, i32Add, set(join.to)),
  code(get(join.length), i32Const(3), i32And, i32Const(7), i32ShiftLeft, get(join.tails), i32Add, set(join.from)),
  code(get(join.to), get(join.to), i32Load(0), get(join.from), i32Load(0), i32Or),
  loop(copyBlock(join.from, join.to), untilEnd),
  i32Store(0),
  code(get(join.end), get(join.length), get(join.tailLength), i32Add, i32Const(3), i32ShiftLeft, set(join.length)),
  code(i32Const(4), i32Sub, get(join.length), i32Store(0)),
)

const joinProgram: Code = code(
  code(i32Const(messagesStart * 4), set(join.message)),
  loop(joinOne, move(join.list, 4), code(get(join.end), set(join.message)), countDown(join.count)),
)

/** The locals of `hash`, of which the first four are its parameters. */
const MESSAGES = 0
const GROUPS = 1
const BLOCKS = 2
const RESULTS = 3
const MESSAGE_BYTES = 4
const LEFT = 5
const AT = 6
const LANES = [7, 8, 9, 10] as const
const [A, B, C, D, E] = [11, 12, 13, 14, 15] as const
const STATE = [16, 17, 18, 19, 20] as const
const CONSTANT = 21
const WORD = 22
const ROWS = [23, 24, 25, 26] as const

const rotate = (local: number, bits: number): Code =>
  code(get(local), i32Const(bits), shiftLeft, get(local), i32Const(32 - bits), shiftRightUnsigned, or)

type Mix = (b: number, c: number, d: number) => Code

const choose: Mix = (b, c, d) => code(get(c), get(d), get(b), bitselect)
const parity: Mix = (b, c, d) => code(get(b), get(c), xor, get(d), xor)
const majority: Mix = (b, c, d) => code(get(d), get(b), get(b), get(c), xor, bitselect)

/** What the round before has computed comes last into the sum: the processor need not wait for it with the rest. */
function round(mix: Mix, index: number, [a, b, c, d, e]: readonly [number, number, number, number, number]): Code {
  const ready = code(get(e), get(CONSTANT), add, get(AT), load(index * 16), add, mix(b, c, d), add)
  return code(ready, rotate(a, 5), add, set(e), rotate(b, 30), set(b))
}

/** Computes the word of the schedule that is wanted 16 rounds later. Again the youngest comes last. */
function expandWord(index: number): Code {
  const at = (words: number) => code(get(AT), load((index + words) * 16))
  return code(
    code(at(0), at(2), xor, at(8), xor, at(13), xor, set(WORD)),
    code(get(AT), rotate(WORD, 1), store((index + 16) * 16)),
  )
}

/** Advances a local and leaves whether it is still below the end. */
const advance = (local: number, step: number, end: number): Code =>
  code(get(local), i32Const(step), i32Add, set(local), get(local), i32Const(end), i32LessUnsigned)

const five = [0, 1, 2, 3, 4]

/**
 * Twenty rounds, five at a time, so that the variables change places without being moved. The schedule grows beside the rounds, since
 * the processor does both at once.
 */
function phase(number: number, mix: Mix, constant: number): Code {
  const rounds = code(
    round(mix, 0, [A, B, C, D, E]),
    round(mix, 1, [E, A, B, C, D]),
    round(mix, 2, [D, E, A, B, C]),
    round(mix, 3, [C, D, E, A, B]),
    round(mix, 4, [B, C, D, E, A]),
  )
  const begin = code(i32Const(constant | 0), splat, set(CONSTANT), i32Const(number * 20 * 16), set(AT))
  const isLast = number === 3
  const lastWords = isLast ? code(...five.slice(1).map(index => expandWord(index - 1))) : []
  const expansion = isLast ? [] : code(...five.map(expandWord))
  return code(begin, lastWords, loop(expansion, rounds, advance(AT, 5 * 16, (number + 1) * 20 * 16)))
}

const openLane: Code = code(
  code(get(MESSAGES), set(LANES[0])),
  ...[1, 2, 3].map(lane => code(get(LANES[lane - 1]!), get(MESSAGE_BYTES), i32Add, set(LANES[lane]!))),
)

const bytesOf = (size: number, ...parts: readonly number[]): number[] =>
  parts.flatMap(part => Array.from({ length: size }, (_, byte) => part * size + byte))

const lowWords = shuffle(bytesOf(4, 0, 4, 1, 5))
const highWords = shuffle(bytesOf(4, 2, 6, 3, 7))
const lowHalves = shuffle(bytesOf(8, 0, 2))
const highHalves = shuffle(bytesOf(8, 1, 3))

/** Four words of each message become four vectors of one word each. */
const turnWords: Code = code(
  ...LANES.map((lane, index) => code(get(lane), load(0), set(ROWS[index]!), move(lane, 16))),
  code(get(ROWS[0]), get(ROWS[1]), lowWords, set(A), get(ROWS[0]), get(ROWS[1]), highWords, set(B)),
  code(get(ROWS[2]), get(ROWS[3]), lowWords, set(C), get(ROWS[2]), get(ROWS[3]), highWords, set(D)),
  code(get(AT), get(A), get(C), lowHalves, store(0), get(AT), get(A), get(C), highHalves, store(16)),
  code(get(AT), get(B), get(D), lowHalves, store(32), get(AT), get(B), get(D), highHalves, store(48)),
)

const turnBlock: Code = code(i32Const(0), set(AT), loop(turnWords, advance(AT, 64, 256)))

const working = [A, B, C, D, E] as const

const compressBlock: Code = code(
  turnBlock,
  ...working.map((local, index) => code(get(STATE[index]!), set(local))),
  phase(0, choose, 0x5a827999),
  phase(1, parity, 0x6ed9eba1),
  phase(2, majority, 0x8f1bbcdc),
  phase(3, parity, 0xca62c1d6),
  ...working.map((local, index) => code(get(STATE[index]!), get(local), add, set(STATE[index]!))),
)

const hashProgram: Code = code(
  code(get(BLOCKS), i32Const(6), i32ShiftLeft, set(MESSAGE_BYTES)),
  loop(
    ...initialState.map((word, index) => code(i32Const(word), splat, set(STATE[index]!))),
    openLane,
    code(get(BLOCKS), set(LEFT)),
    loop(compressBlock, countDown(LEFT)),
    code(get(RESULTS), get(STATE[0]), store(0), get(RESULTS), get(STATE[1]), store(16), move(RESULTS, 32)),
    code(get(MESSAGES), get(MESSAGE_BYTES), i32Const(2), i32ShiftLeft, i32Add, set(MESSAGES)),
    countDown(GROUPS),
  ),
)

/**
 * Puts messages of so many bytes each, which are whole blocks, one after another from `messagesStart` on. What they begin with is told by a list of
 * the places of beginnings. What all of them end with is at `tails`, four times: for each number of bytes that the last word of a beginning
 * may have; the length of a tail is in bytes.
 */
export const joinFunction: WasmFunction = {
  name: 'join',
  parameters: [i32, i32, i32, i32, i32],
  results: [],
  locals: Array(5).fill(i32),
  code: joinProgram,
}

/**
 * Hashes messages: where they are, how many times four of them, of how many blocks each, and where the results go. There are then the first words of
 * four hashes, the second words of these, the first words of the next four, and so on.
 */
export const hashFunction: WasmFunction = {
  name: 'hash',
  parameters: [i32, i32, i32, i32],
  results: [],
  locals: [...Array(7).fill(i32), ...Array(16).fill(v128)],
  code: hashProgram,
}
