import { EVERYBODY, NO_VARIANT } from '../compile/plan.ts'
import { saltLengths, VARIANT } from '../hash/bucket-message.ts'
import { hashFunction, joinFunction, joinMax, messagesStart } from '../hash/sha1-simd.ts'
import {
  asLongAs,
  assembleModule,
  type Code,
  call,
  code,
  f64,
  f64Add,
  f64AtMost,
  f64Const,
  f64Equal,
  f64FromUnsigned,
  f64Less,
  f64Load,
  f64Multiply,
  fill,
  get,
  giveBack,
  i32,
  i32Add,
  i32And,
  i32AtLeastUnsigned,
  i32Const,
  i32Equal,
  i32LessUnsigned,
  i32Load,
  i32LoadByte,
  i32Multiply,
  i32Or,
  i32ShiftLeft,
  i32ShiftRight,
  i32ShiftRightUnsigned,
  i32Store,
  i32StoreByte,
  i32Sub,
  openModule,
  select,
  set,
  type WasmFunction,
  when,
} from '../hash/wasm-assembler.ts'
import {
  answerBits,
  answerMask,
  condition,
  DECIDED,
  DEPENDS,
  ROLLOUT_AWAITED,
  record,
  UNDECIDED,
} from './flat-flags.ts'
import { EXCLUDED, matchedOutcome, NO_GROUP, SKIPPED, UNMATCHED } from './outcome.ts'
import { UNKNOWN } from './run.ts'
import { FAILED, TRUE, type Truth } from './ternary.ts'
import { bagsStart, line, linesEnd, linesStart, lineWords, NOBODY, pages, roomsStart } from './walk-memory.ts'

/**
 * The program that walks through flat flags, in WebAssembly. It gives the outcomes that `decideFlag` gives; where there is a doubt or a failure, it
 * leaves the flag to that one. A flag that a hash decides waits in line until there are enough others to be hashed together with: first for
 * its rollout, then for its variant.
 */
export interface FlagWalk {
  readonly memory: Int32Array
  /**
   * Decides the flags whose records lie between two places. `truths` is room for one byte for each filter, `outcomes` for one word for each flag,
   * by its position, and `undecided` for the positions of the flags that are left, which end where it says. All places are in bytes.
   */
  decide(records: number, end: number, truths: number, truthCount: number, outcomes: number, undecided: number): number
}

/** Where the rooms of this evaluation are. */
const rooms = { truths: roomsStart * 4, outcomes: (roomsStart + 1) * 4, undecided: (roomsStart + 2) * 4 } as const

/** The functions, by their numbers. */
const DECIDE_FILTER = 0
const JOIN = 1
const HASH = 2
const WALK = 3
const WAIT = 4
const SETTLE = 5

const word = (place: number): Code => code(i32Const(place), i32Load(0))
const field = (local: number, offset: number): Code => code(get(local), i32Load(offset))
const plus = (left: Code, right: Code): Code => code(left, right, i32Add)
const times = (left: Code, factor: number): Code => code(left, i32Const(factor), i32Multiply)
const isEqual = (left: Code, value: number): Code => code(left, i32Const(value), i32Equal)
const isBefore = (left: number, right: number): Code => code(get(left), get(right), i32LessUnsigned)
const step = (local: number, bytes: number): Code => set(local, plus(get(local), i32Const(bytes)))
const answerOf = (outcome: Code): Code => code(outcome, i32Const(answerBits), i32ShiftLeft)
const numberOf = (answer: number): Code => code(get(answer), i32Const(answerBits), i32ShiftRight)
const isDecided = (answer: number): Code => isEqual(code(get(answer), i32Const(answerMask), i32And), DECIDED)

/** The locals of `walk`, of which the first five are its parameters. */
const walk = {
  record: 0,
  /** The condition that it has come to, and the bucket of the rollout, not a number while it is not known. */
  at: 1,
  bucket: 2,
  /** What there is to tell of the conditions before. */
  told: 3,
  toldRank: 4,
  end: 5,
  next: 6,
  filter: 7,
  place: 8,
  truth: 9,
  rank: 10,
  share: 11,
} as const

const decideFilter = code(
  set(walk.place, plus(word(rooms.truths), field(walk.filter, 0))),
  set(walk.truth, code(get(walk.place), i32LoadByte(0))),
  when(
    isEqual(get(walk.truth), UNKNOWN),
    code(
      set(walk.truth, code(field(walk.filter, 0), call(DECIDE_FILTER))),
      code(get(walk.place), get(walk.truth), i32StoreByte(0)),
    ),
  ),
)

/** All filters of the condition, until one does not hold. */
const decideFilters = code(
  set(walk.truth, i32Const(TRUE)),
  set(walk.filter, plus(get(walk.at), i32Const(condition.filters))),
  asLongAs(
    isBefore(walk.filter, walk.next),
    decideFilter,
    when(isEqual(get(walk.truth), TRUE), step(walk.filter, 4), set(walk.filter, get(walk.next))),
  ),
)

/** A truth that is more than a plain no. */
const isDoubtful = code(
  code(get(walk.truth), i32Const(FAILED), i32AtLeastUnsigned),
  code(get(walk.truth), i32Const(TRUE), i32And),
  i32Or,
)

const isKnown = code(get(walk.bucket), get(walk.bucket), f64Equal)

/** Gives the answer back when the condition has one. */
const decideShare = code(
  set(walk.rank, i32Const(EXCLUDED)),
  set(walk.share, code(get(walk.at), f64Load(condition.share))),
  when(
    code(get(walk.share), f64Const(EVERYBODY), f64Equal, get(walk.bucket), get(walk.share), f64AtMost, i32Or),
    code(field(walk.at, condition.matched), giveBack),
  ),
  when(
    code(f64Const(0), get(walk.share), f64Less, isKnown, isEqual([], 0), i32And),
    code(answerOf(code(get(walk.at), get(walk.record), i32Sub)), i32Const(ROLLOUT_AWAITED), i32Or, giveBack),
  ),
  when(
    field(walk.record, record.earlyExit),
    code(answerOf(plus(field(walk.at, condition.base), i32Const(EXCLUDED))), giveBack),
  ),
)

const tellCondition = when(
  code(get(walk.rank), get(walk.toldRank), i32AtLeastUnsigned),
  code(set(walk.told, plus(field(walk.at, condition.base), get(walk.rank))), set(walk.toldRank, get(walk.rank))),
)

/** Goes through the conditions of a flag from one of them on, and gives the answer. */
const walkFunction: WasmFunction = {
  name: 'walk',
  parameters: [i32, i32, f64, i32, i32],
  results: [i32],
  locals: [i32, i32, i32, i32, i32, i32, f64],
  code: code(
    set(walk.end, plus(get(walk.record), field(walk.record, record.conditionsEnd))),
    asLongAs(
      isBefore(walk.at, walk.end),
      set(walk.next, plus(get(walk.at), field(walk.at, condition.size))),
      decideFilters,
      when(
        isEqual(get(walk.truth), TRUE),
        decideShare,
        code(when(isDoubtful, code(i32Const(UNDECIDED), giveBack)), set(walk.rank, i32Const(UNMATCHED))),
      ),
      tellCondition,
      set(walk.at, get(walk.next)),
    ),
    answerOf(get(walk.told)),
  ),
}

/** The locals of `wait`, of which the first two are its parameters. */
const wait = { record: 0, answer: 1, salt: 2, line: 3, place: 4 } as const

/** Leaves the flag to whoever asked. */
const leave = code(
  set(wait.place, word(rooms.undecided)),
  code(get(wait.place), field(wait.record, record.position), i32Store(0)),
  code(i32Const(rooms.undecided), plus(get(wait.place), i32Const(4)), i32Store(0)),
)

const bagOf = (local: number): Code => code(field(local, record.bag), i32Const(2), i32ShiftLeft)
/** The length of the identifier of the flag's bag. */
const identifierLength = (local: number): Code => code(bagOf(local), i32Load(bagsStart * 4))

const messageLength = plus(
  plus(field(wait.record, record.prefixLength), identifierLength(wait.record)),
  times(get(wait.salt), saltLengths[VARIANT]),
)

/** The number of blocks less one: a message has nine bytes more than its text. */
const furtherBlocks = code(messageLength, i32Const(8), i32Add, i32Const(6), i32ShiftRightUnsigned)

const join = code(
  set(wait.line, times(plus(code(plus(bagOf(wait.record), times(get(wait.salt), 2))), get(wait.place)), lineWords * 4)),
  set(wait.line, plus(get(wait.line), i32Const(linesStart * 4))),
  set(wait.place, plus(get(wait.line), code(field(wait.line, line.count * 4), i32Const(2), i32ShiftLeft))),
  code(get(wait.place), get(wait.record), i32Store(line.records * 4)),
  code(get(wait.place), numberOf(wait.answer), i32Store(line.notes * 4)),
  code(get(wait.line), plus(field(wait.line, line.count * 4), i32Const(1)), i32Store(line.count * 4)),
  when(isEqual(field(wait.line, line.count * 4), joinMax), code(get(wait.line), call(SETTLE))),
)

/** Puts the outcome of a flag down, or calls `wait`. */
const conclude = (flag: number, answer: number): Code =>
  when(
    isDecided(answer),
    code(
      plus(word(rooms.outcomes), code(field(flag, record.position), i32Const(2), i32ShiftLeft)),
      code(numberOf(answer), i32Store(0)),
    ),
    code(get(flag), get(answer), call(WAIT)),
  )

/** Puts a flag in line for the hash that decides. */
const waitFunction: WasmFunction = {
  name: 'wait',
  parameters: [i32, i32],
  results: [],
  locals: [i32, i32, i32],
  code: code(
    set(wait.salt, code(get(wait.answer), i32Const(answerMask), i32And, i32Const(ROLLOUT_AWAITED), i32Sub)),
    set(wait.place, furtherBlocks),
    when(
      code(
        code(get(wait.salt), i32Const(VARIANT + 1), i32AtLeastUnsigned),
        code(get(wait.place), i32Const(2), i32AtLeastUnsigned, i32Or),
      ),
      leave,
      join,
    ),
  ),
}

/** The locals of `settle`, of which the first is its parameter. */
const settle = {
  line: 0,
  count: 1,
  at: 2,
  end: 3,
  record: 4,
  note: 5,
  answer: 6,
  span: 7,
  spansEnd: 8,
  bucket: 9,
} as const

const hashLine = code(
  plus(get(settle.line), i32Const(line.records * 4)),
  code(get(settle.count), field(settle.line, line.blocks * 4), i32Const(6), i32ShiftLeft),
  code(field(settle.line, line.tails * 4), field(settle.line, line.tailLength * 4), call(JOIN)),
  code(i32Const(messagesStart * 4), get(settle.count), i32Const(3), i32Add, i32Const(2), i32ShiftRightUnsigned),
  code(field(settle.line, line.blocks * 4), plus(get(settle.line), i32Const(line.results * 4)), call(HASH)),
)

/** As `unitOf` does it. First words of four hashes are followed by the second words of these. */
const readBucket = code(
  set(settle.note, code(get(settle.at), get(settle.line), i32Sub, i32Const(-16), i32And)),
  set(settle.note, plus(get(settle.at), get(settle.note))),
  code(field(settle.note, line.results * 4), f64FromUnsigned, f64Const(2 ** 28), f64Multiply),
  code(field(settle.note, line.results * 4 + 16), i32Const(4), i32ShiftRightUnsigned, f64FromUnsigned, f64Add),
  code(f64Const(2 ** -60), f64Multiply, set(settle.bucket)),
)

/** The note is the condition that has asked for the bucket. */
const settleRollout = code(
  set(settle.note, plus(get(settle.record), get(settle.note))),
  code(field(settle.note, condition.matched), field(settle.note, condition.excluded)),
  code(get(settle.bucket), get(settle.note), f64Load(condition.share), f64AtMost, select, set(settle.answer)),
  when(
    isEqual(get(settle.answer), DEPENDS),
    code(
      code(get(settle.record), plus(get(settle.note), field(settle.note, condition.size)), get(settle.bucket)),
      code(plus(field(settle.note, condition.base), i32Const(EXCLUDED)), i32Const(EXCLUDED)),
      code(call(WALK), set(settle.answer)),
    ),
  ),
)

/**
 * The note is the first outcome of the condition that has matched. Spans of variants follow each other without a gap, so those that end before the
 * bucket are counted.
 */
const settleVariant = code(
  set(settle.answer, i32Const(0)),
  set(settle.span, get(settle.record)),
  set(settle.spansEnd, plus(get(settle.span), times(field(settle.record, record.variantCount), 8))),
  asLongAs(
    isBefore(settle.span, settle.spansEnd),
    code(get(settle.span), f64Load(record.spans), get(settle.bucket), f64AtMost),
    code(get(settle.answer), i32Add, set(settle.answer)),
    step(settle.span, 8),
  ),
  code(plus(get(settle.answer), i32Const(matchedOutcome(0))), i32Const(matchedOutcome(NO_VARIANT))),
  code(get(settle.answer), field(settle.record, record.variantCount), i32LessUnsigned, select),
  set(settle.answer, answerOf(plus([], get(settle.note)))),
)

/** Hashes for all flags in line, and decides them. */
const settleFunction: WasmFunction = {
  name: 'settle',
  parameters: [i32],
  results: [],
  locals: [...Array(8).fill(i32), f64],
  code: code(
    set(settle.count, field(settle.line, line.count * 4)),
    code(get(settle.line), i32Const(0), i32Store(line.count * 4)),
    hashLine,
    set(settle.at, get(settle.line)),
    set(settle.end, plus(get(settle.line), code(get(settle.count), i32Const(2), i32ShiftLeft))),
    asLongAs(
      isBefore(settle.at, settle.end),
      readBucket,
      set(settle.record, field(settle.at, line.records * 4)),
      set(settle.note, field(settle.at, line.notes * 4)),
      when(field(settle.line, line.salt * 4), settleVariant, settleRollout),
      conclude(settle.record, settle.answer),
      step(settle.at, 4),
    ),
  ),
}

/** The locals of `decide`, of which the first six are its parameters. */
const decide = { record: 0, end: 1, truths: 2, truthCount: 3, outcomes: 4, undecided: 5, line: 6, answer: 7 } as const

const lineBytes = lineWords * 4
const eachLine = (body: Code): Code =>
  code(
    set(decide.line, i32Const(linesStart * 4)),
    asLongAs(code(get(decide.line), i32Const(linesEnd * 4), i32LessUnsigned), body, step(decide.line, lineBytes)),
  )

/** Whoever has no such group gets no answer to what is asked about it. */
const decideByProperties = when(
  isEqual(identifierLength(decide.record), NOBODY),
  set(decide.answer, i32Const(NO_GROUP << answerBits)),
  code(
    code(get(decide.record), plus(get(decide.record), field(decide.record, record.conditions))),
    code(f64Const(Number.NaN), i32Const(NO_GROUP), i32Const(SKIPPED), call(WALK), set(decide.answer)),
  ),
)

/** An evaluation that was cut short may have left flags in line. */
const decideFunction: WasmFunction = {
  name: 'decide',
  parameters: Array(6).fill(i32),
  results: [i32],
  locals: [i32, i32],
  code: code(
    code(i32Const(rooms.truths), get(decide.truths), i32Store(0)),
    code(i32Const(rooms.outcomes), get(decide.outcomes), i32Store(0)),
    code(i32Const(rooms.undecided), get(decide.undecided), i32Store(0)),
    code(get(decide.truths), i32Const(UNKNOWN), get(decide.truthCount), fill),
    eachLine(code(get(decide.line), i32Const(0), i32Store(line.count * 4))),
    asLongAs(
      isBefore(decide.record, decide.end),
      set(decide.answer, field(decide.record, record.answer)),
      when(isEqual(get(decide.answer), DEPENDS), decideByProperties),
      conclude(decide.record, decide.answer),
      set(decide.record, plus(get(decide.record), field(decide.record, record.size))),
    ),
    eachLine(when(field(decide.line, line.count * 4), code(get(decide.line), call(SETTLE)))),
    word(rooms.undecided),
  ),
}

function walkModule(): Uint8Array {
  return assembleModule({
    imports: [{ name: 'decideFilter', parameters: [i32], results: [i32] }],
    functions: [joinFunction, hashFunction, walkFunction, waitFunction, settleFunction, decideFunction],
    pages,
  })
}

/** Undefined where WebAssembly or its vectors are missing or forbidden; plain JavaScript does as well. Filters are decided by whoever opens it. */
export function openWalk(decideFilter: (id: number) => Truth): FlagWalk | undefined {
  const opened = openModule(walkModule(), { decideFilter })
  return opened && { memory: opened.memory, decide: opened.programs.decide as FlagWalk['decide'] }
}
