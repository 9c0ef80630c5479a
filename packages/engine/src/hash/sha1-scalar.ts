import { initialState } from './sha1.ts'
import {
  assembleModule,
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
  i32RotateLeft,
  i32Store,
  i32Sub,
  i32Xor,
  loop,
  openModule,
  set,
} from './wasm-assembler.ts'

/**
 * SHA-1 of one message in WebAssembly, in plain integers: they can be rotated, which vectors cannot, so for one message they are twice as quick.
 */
export interface Alone {
  /** A message of so many blocks, to be laid down from `messageStart` on. Then the first two words of the hash are at `resultStart`. */
  hash(blocks: number): void
  readonly memory: Int32Array
  /** The same as bytes. */
  readonly bytes: Uint8Array
}

const scheduleWords = 80
/** In words of the memory. */
export const messageStart = scheduleWords
/** Longer messages, which nobody has, are left to plain JavaScript. */
export const aloneBlocksMax = 16
export const resultStart = messageStart + aloneBlocksMax * 16

/** The locals, of which the first is the parameter. */
const BLOCKS = 0
const MESSAGE = 1
const AT = 2
const [A, B, C, D, E] = [3, 4, 5, 6, 7] as const
const STATE = [8, 9, 10, 11, 12] as const

type Mix = (b: number, c: number, d: number) => Code

const choose: Mix = (b, c, d) => code(get(c), get(d), i32Xor, get(b), i32And, get(d), i32Xor)
const parity: Mix = (b, c, d) => code(get(b), get(c), i32Xor, get(d), i32Xor)
const majority: Mix = (b, c, d) => code(get(b), get(c), i32Or, get(d), i32And, get(b), get(c), i32And, i32Or)

const rotate = (local: number, bits: number): Code => code(get(local), i32Const(bits), i32RotateLeft)

/** What the round before has computed comes last into the sum: the processor need not wait for it with the rest. */
function round(
  mix: Mix,
  constant: number,
  index: number,
  [a, b, c, d, e]: readonly [number, number, number, number, number],
): Code {
  const ready = code(get(e), i32Const(constant | 0), i32Add, get(AT), i32Load(index * 4), i32Add, mix(b, c, d), i32Add)
  return code(ready, rotate(a, 5), i32Add, set(e), rotate(b, 30), set(b))
}

/** Computes the word of the schedule that is wanted 16 rounds later. */
function expandWord(index: number): Code {
  const at = (words: number) => code(get(AT), i32Load((index + words) * 4))
  const mixed = code(at(0), at(2), i32Xor, at(8), i32Xor, at(13), i32Xor)
  return code(get(AT), mixed, i32Const(1), i32RotateLeft, i32Store((index + 16) * 4))
}

const five = [0, 1, 2, 3, 4]

/** Twenty rounds, five at a time, so that the variables change places without being moved. */
function phase(number: number, mix: Mix, constant: number): Code {
  const rounds = code(
    round(mix, constant, 0, [A, B, C, D, E]),
    round(mix, constant, 1, [E, A, B, C, D]),
    round(mix, constant, 2, [D, E, A, B, C]),
    round(mix, constant, 3, [C, D, E, A, B]),
    round(mix, constant, 4, [B, C, D, E, A]),
  )
  const isLast = number === 3
  const lastWords = isLast ? code(...five.slice(1).map(index => expandWord(index - 1))) : []
  const expansion = isLast ? [] : code(...five.map(expandWord))
  const end = (number + 1) * 20 * 4
  const onwards = code(get(AT), i32Const(20), i32Add, set(AT), get(AT), i32Const(end), i32LessUnsigned)
  return code(lastWords, loop(expansion, rounds, onwards))
}

const working = [A, B, C, D, E] as const

/** The schedule is at the beginning of the memory. */
const compressBlock: Code = code(
  ...Array.from({ length: 16 }, (_, word) => code(i32Const(0), get(MESSAGE), i32Load(word * 4), i32Store(word * 4))),
  code(i32Const(0), set(AT)),
  ...working.map((local, index) => code(get(STATE[index]!), set(local))),
  phase(0, choose, 0x5a827999),
  phase(1, parity, 0x6ed9eba1),
  phase(2, majority, 0x8f1bbcdc),
  phase(3, parity, 0xca62c1d6),
  ...working.map((local, index) => code(get(STATE[index]!), get(local), i32Add, set(STATE[index]!))),
)

const program: Code = code(
  ...[...initialState].map((word, index) => code(i32Const(word), set(STATE[index]!))),
  code(i32Const(messageStart * 4), set(MESSAGE)),
  loop(
    compressBlock,
    code(get(MESSAGE), i32Const(64), i32Add, set(MESSAGE)),
    code(get(BLOCKS), i32Const(1), i32Sub, set(BLOCKS), get(BLOCKS)),
  ),
  code(i32Const(resultStart * 4), get(STATE[0]), i32Store(0), i32Const(resultStart * 4), get(STATE[1]), i32Store(4)),
)

const aloneModule = (): Uint8Array =>
  assembleModule({
    functions: [{ name: 'hash', parameters: [i32], results: [], locals: Array(12).fill(i32), code: program }],
    pages: 1,
  })

/** Undefined where there is no WebAssembly; plain JavaScript does as well. */
export function openAlone(): Alone | undefined {
  const opened = openModule(aloneModule())
  return opened && { memory: opened.memory, bytes: new Uint8Array(opened.memory.buffer), hash: opened.programs.hash! }
}

let shared: Alone | null | undefined

/** The one that everything in this process hashes with; opened when it is first needed. */
export function sharedAlone(): Alone | undefined {
  if (shared === undefined) shared = openAlone() ?? null
  return shared ?? undefined
}
