import type { CompiledFlag } from '@halyard/engine'
import type { Outcomes } from '../evaluation/outcomes.ts'
import type { ServedProject } from '../evaluation/served-project.ts'
import type { AnswerRoom } from '../http/answer-room.ts'
import { type AnswerBody, headRoomBytes } from '../http/quick-answer.ts'
import { type AnswerPieces, createAnswerPieces, lineBytesMax, lineMax } from './answer-pieces.ts'
import type { Envelope } from './plain-answer.ts'
import { flagDetail } from './plain-answer.ts'

/** Tells evaluations in the usual shape by copying prepared bytes. Gives what `plainAnswer` gives as JSON. */
export type FastAnswer = (
  outcomes: Outcomes,
  eligible: readonly number[],
  envelope: Envelope,
  room: AnswerRoom,
) => AnswerBody

/** What one flag can answer, by outcome: where `,"key":{…}` is kept and how many bytes it has, by turns; 0 before it is first needed. */
interface KnownPieces {
  readonly generation: number
  readonly table: Int32Array
}

/**
 * Pieces live as long as the compiled flag they are of: a change of one flag makes only its own anew. Their memory is opened by the first
 * answer: a server that nobody asks for evaluations goes without it.
 */
export function createFastAnswers(
  openPieces: () => AnswerPieces = createAnswerPieces,
): (served: ServedProject) => FastAnswer {
  const answers = new WeakMap<ServedProject, FastAnswer>()
  const known = new WeakMap<CompiledFlag, KnownPieces>()
  let opened: AnswerPieces | undefined
  const tableOf = (flag: CompiledFlag, generation: number): Int32Array => {
    const found = known.get(flag)
    if (found?.generation === generation) return found.table
    const table = new Int32Array(flag.outcomes.length * 2)
    known.set(flag, { generation, table })
    return table
  }
  return served => {
    const found = answers.get(served)
    if (found !== undefined) return found
    opened ??= openPieces()
    const answer = fastAnswer(served.snapshot.flags, opened, tableOf)
    answers.set(served, answer)
    return answer
  }
}

const opening = Buffer.from('{"errorsWhileComputingFlags":false,"flags":{')
/** As long as the other: which of them it is turns out in the end. */
const openingWithErrors = Buffer.from('{"errorsWhileComputingFlags":true ,"flags":{')
const bodyFrom = headRoomBytes + opening.length
/** Most answers need not be begun anew with more room. */
const bytesPerFlag = 400

function fastAnswer(
  flags: readonly CompiledFlag[],
  pieces: AnswerPieces,
  tableOf: (flag: CompiledFlag, generation: number) => Int32Array,
): FastAnswer {
  /** What is known of all flags one after another, to be found without going from object to object; and which outcomes tell of a failure. */
  const starts = new Int32Array(flags.length)
  const isFailing = Uint8Array.from(flags.flatMap(flag => flag.outcomes.map(outcome => (outcome.failed ? 1 : 0))))
  const table = new Int32Array(isFailing.length * 2)
  let generation = Number.NaN
  let roomBytes = bodyFrom + flags.length * bytesPerFlag
  let hasFailed = false

  function fillTable(): void {
    generation = pieces.generation
    let start = 0
    for (const [index, flag] of flags.entries()) {
      starts[index] = start
      table.set(tableOf(flag, generation), start * 2)
      start += flag.outcomes.length
    }
  }

  function makePiece(index: number, outcome: number): Uint8Array {
    const flag = flags[index]!
    const detail = JSON.stringify(flagDetail(flag, flag.outcomes[outcome]!))
    const piece = Buffer.from(`,${JSON.stringify(flag.key)}:${detail}`)
    const known = [pieces.keep(piece), piece.length]
    tableOf(flag, generation).set(known, outcome * 2)
    table.set(known, (starts[index]! + outcome) * 2)
    return piece
  }

  /** Puts the pieces one after another. Gives where they end, or -1 when there is too little room for them. */
  function copy(outcomes: Outcomes, eligible: readonly number[], bytes: Buffer, limit: number): number {
    pieces.begin()
    if (pieces.generation !== generation) fillTable()
    let { line } = pieces
    let count = 0
    let failures = 0
    /** Until where it is written, and until where it will be with those in line. */
    let at = bodyFrom
    let end = bodyFrom
    for (let position = 0; position < eligible.length; position++) {
      const index = eligible[position]!
      const outcome = outcomes.outcomeIndex(index)
      if (outcome === -1) continue
      const place = starts[index]! + outcome
      const made = table[place * 2] === 0 ? makePiece(index, outcome) : undefined
      if (made !== undefined) line = pieces.line
      const kept = table[place * 2]!
      const length = table[place * 2 + 1]!
      if (end + length > limit) return -1
      failures += isFailing[place]!
      if (count === lineMax || end + length - at > lineBytesMax || kept === 0) {
        if (count > 0) pieces.take(count, end - at, bytes, at)
        count = 0
        at = end
      }
      end += length
      if (kept === 0) {
        bytes.set(made!, at)
        at = end
      } else {
        line[count * 2] = kept
        line[count * 2 + 1] = length
        count++
      }
    }
    if (count > 0) pieces.take(count, end - at, bytes, at)
    hasFailed = failures > 0
    return end
  }

  return (outcomes, eligible, envelope, room) => {
    const { config } = envelope
    const tailBytes = tailBytesMax + (config?.json.length ?? 0)
    let bytes = room.take(roomBytes + tailBytes)
    let end = copy(outcomes, eligible, bytes, bytes.length - tailBytes)
    while (end === -1) {
      roomBytes *= 2
      bytes = room.take(roomBytes + tailBytes)
      end = copy(outcomes, eligible, bytes, bytes.length - tailBytes)
    }
    const to = end + writeTail(bytes, end, envelope)
    // The first piece goes without its comma: the opening is written over it.
    const from = headRoomBytes + (end > bodyFrom ? 1 : 0)
    bytes.set(envelope.hasErrors || hasFailed ? openingWithErrors : opening, from)
    return { bytes, from, to }
  }
}

/** Without the configuration. */
const tailBytesMax = 128

/** Answers how many bytes it has. */
function writeTail(bytes: Buffer, at: number, { requestId, evaluatedAt, config }: Envelope): number {
  const told = `},"requestId":"${requestId}","evaluatedAt":${evaluatedAt}`
  if (config === undefined) return bytes.write(`${told}}`, at, 'latin1')
  const length = bytes.write(told, at, 'latin1')
  bytes.set(config.json, at + length)
  return length + config.json.length + bytes.write('}', at + length + config.json.length, 'latin1')
}
