import type { CompiledFlag } from '@halyard/engine'
import type { Outcomes } from '../evaluation/outcomes.ts'
import type { ServedProject } from '../evaluation/served-project.ts'
import type { AnswerRoom } from '../http/answer-room.ts'
import { type AnswerBody, headRoomBytes } from '../http/quick-answer.ts'
import type { Envelope } from './plain-answer.ts'
import { flagDetail } from './plain-answer.ts'

/** Tells evaluations in the usual shape by copying prepared bytes. Gives what `plainAnswer` gives as JSON. */
export type FastAnswer = (
  outcomes: Outcomes,
  eligible: readonly number[],
  envelope: Envelope,
  room: AnswerRoom,
) => AnswerBody

/** What one flag can answer, by outcome: `,"key":{…}` as bytes, each made when it is first needed. */
type Pieces = (Uint8Array | undefined)[]

/** Pieces live as long as the compiled flag they are of: a change of one flag makes only its own anew. */
export function createFastAnswers(): (served: ServedProject) => FastAnswer {
  const answers = new WeakMap<ServedProject, FastAnswer>()
  const known = new WeakMap<CompiledFlag, Pieces>()
  const piecesOf = (flag: CompiledFlag): Pieces => {
    const pieces = known.get(flag) ?? Array.from(flag.outcomes, () => undefined)
    known.set(flag, pieces)
    return pieces
  }
  return served => {
    const answer = answers.get(served) ?? fastAnswer(served.snapshot.flags, piecesOf)
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

function fastAnswer(flags: readonly CompiledFlag[], piecesOf: (flag: CompiledFlag) => Pieces): FastAnswer {
  /** The pieces of all flags one after another, to be found without going from object to object; and which tell of a failure. */
  const starts = new Int32Array(flags.length)
  const pieces: Pieces = []
  const failing: number[] = []
  for (const [index, flag] of flags.entries()) {
    starts[index] = pieces.length
    for (const piece of piecesOf(flag)) pieces.push(piece)
    for (const outcome of flag.outcomes) failing.push(outcome.failed ? 1 : 0)
  }
  const isFailing = Uint8Array.from(failing)
  let roomBytes = bodyFrom + flags.length * bytesPerFlag + tailBytesMax
  let hasFailed = false

  function makePiece(index: number, outcome: number): Uint8Array {
    const flag = flags[index]!
    const detail = JSON.stringify(flagDetail(flag, flag.outcomes[outcome]!))
    const piece = new Uint8Array(Buffer.from(`,${JSON.stringify(flag.key)}:${detail}`))
    piecesOf(flag)[outcome] = piece
    pieces[starts[index]! + outcome] = piece
    return piece
  }

  /** Puts the pieces one after another. Gives where they end, or -1 when there is too little room for them. */
  function copy(outcomes: Outcomes, eligible: readonly number[], bytes: Buffer): number {
    const limit = bytes.length - tailBytesMax
    let failures = 0
    let at = bodyFrom
    for (let position = 0; position < eligible.length; position++) {
      const index = eligible[position]!
      const outcome = outcomes.outcomeIndex(index)
      if (outcome === -1) continue
      const place = starts[index]! + outcome
      const piece = pieces[place] ?? makePiece(index, outcome)
      if (at + piece.length > limit) return -1
      failures += isFailing[place]!
      bytes.set(piece, at)
      at += piece.length
    }
    hasFailed = failures > 0
    return at
  }

  return (outcomes, eligible, envelope, room) => {
    let bytes = room.take(roomBytes)
    let end = copy(outcomes, eligible, bytes)
    while (end === -1) {
      roomBytes *= 2
      bytes = room.take(roomBytes)
      end = copy(outcomes, eligible, bytes)
    }
    const to = end + bytes.write(closing(envelope), end, 'latin1')
    // The first piece goes without its comma: the opening is written over it.
    const from = headRoomBytes + (end > bodyFrom ? 1 : 0)
    bytes.set(envelope.hasErrors || hasFailed ? openingWithErrors : opening, from)
    return { bytes, from, to }
  }
}

const tailBytesMax = 128

const closing = ({ requestId, evaluatedAt }: Envelope): string =>
  `},"requestId":"${requestId}","evaluatedAt":${evaluatedAt}}`
