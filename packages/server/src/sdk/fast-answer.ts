import type { CompiledFlag } from '@halyard/engine'
import type { Outcomes } from '../evaluation/outcomes.ts'
import type { ServedProject } from '../evaluation/served-project.ts'
import type { AnswerRoom } from '../http/answer-room.ts'
import { type AnswerBody, headRoomBytes } from '../http/quick-answer.ts'
import type { Envelope } from './plain-answer.ts'
import { flagDetail } from './plain-answer.ts'

/** What one flag can answer, as bytes; each made when it is first needed. */
interface Pieces {
  readonly flag: CompiledFlag
  /** By outcome: `,"key":{…}`. */
  readonly bytes: (Uint8Array | undefined)[]
}

/** Tells evaluations in the usual shape by copying prepared bytes. Gives what `plainAnswer` gives as JSON. */
export type FastAnswer = (
  outcomes: Outcomes,
  eligible: readonly number[],
  envelope: Envelope,
  room: AnswerRoom,
) => AnswerBody

const opening = Buffer.from('{"errorsWhileComputingFlags":false,"flags":{')
const openingWithErrors = Buffer.from('{"errorsWhileComputingFlags":true,"flags":{')

/** Pieces live as long as the compiled flag they are of: a change of one flag makes only its own anew. */
export function createFastAnswers(): (served: ServedProject) => FastAnswer {
  const answers = new WeakMap<ServedProject, FastAnswer>()
  const known = new WeakMap<CompiledFlag, Pieces>()
  const piecesOf = (flag: CompiledFlag): Pieces => {
    const pieces = known.get(flag) ?? { flag, bytes: new Array(flag.outcomes.length) }
    known.set(flag, pieces)
    return pieces
  }
  return served => {
    const made = answers.get(served)
    if (made) return made
    const table = served.snapshot.flags.map(piecesOf)
    const answer: FastAnswer = (outcomes, eligible, envelope, room) =>
      assemble(table, outcomes, eligible, envelope, room)
    answers.set(served, answer)
    return answer
  }
}

function assemble(
  table: readonly Pieces[],
  outcomes: Outcomes,
  eligible: readonly number[],
  envelope: Envelope,
  room: AnswerRoom,
): AnswerBody {
  const chosen: Uint8Array[] = []
  let size = 0
  let hasErrors = envelope.hasErrors
  for (let position = 0; position < eligible.length; position++) {
    const index = eligible[position]!
    const outcome = outcomes.outcomeIndex(index)
    if (outcome === -1) continue
    const pieces = table[index]!
    const piece = pieces.bytes[outcome] ?? makePiece(pieces, outcome)
    if (pieces.flag.outcomes[outcome]!.failed) hasErrors = true
    chosen.push(piece)
    size += piece.length
  }
  return join(hasErrors ? openingWithErrors : opening, chosen, size, closing(envelope), room)
}

function makePiece(pieces: Pieces, outcome: number): Uint8Array {
  const { flag } = pieces
  const detail = JSON.stringify(flagDetail(flag, flag.outcomes[outcome]!))
  const bytes = Buffer.from(`,${JSON.stringify(flag.key)}:${detail}`)
  const piece = new Uint8Array(bytes)
  pieces.bytes[outcome] = piece
  return piece
}

const closing = ({ requestId, evaluatedAt }: Envelope): string =>
  `},"requestId":"${requestId}","evaluatedAt":${evaluatedAt}}`

/** The first piece goes without its comma. */
function join(
  head: Uint8Array,
  pieces: readonly Uint8Array[],
  size: number,
  tail: string,
  room: AnswerRoom,
): AnswerBody {
  const comma = pieces.length > 0 ? 1 : 0
  const from = headRoomBytes
  const to = from + head.length + size - comma + tail.length
  const bytes = room.take(to)
  // The comma of the first piece lies where the head ends, and is written over by it.
  let at = from + head.length - comma
  for (let position = 0; position < pieces.length; position++) {
    const piece = pieces[position]!
    bytes.set(piece, at)
    at += piece.length
  }
  bytes.set(head, from)
  bytes.write(tail, at, 'latin1')
  return { bytes, from, to }
}
