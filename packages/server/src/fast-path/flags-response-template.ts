import type { CompiledFlag } from '@halyard/engine'
import { requestIdBytes } from '../api/sdk/request-ids.ts'
import type { Envelope } from '../api/sdk/serialize-flags-response.ts'
import { flagDetail } from '../api/sdk/serialize-flags-response.ts'
import type { Outcomes } from '../evaluation/outcomes.ts'
import type { ServedProject } from '../evaluation/projects/served-project.ts'
import { headBytesMax, type ResponseBody } from './fast-response.ts'
import type { ResponseBuffer } from './response-buffer.ts'
import { createResponseFragments, lineMax, type ResponseFragments } from './response-fragments.ts'

/** Tells evaluations in the usual shape by copying prepared bytes. Gives what `serializeFlagsResponse` gives as JSON. */
export type FlagsResponseTemplate = (
  outcomes: Outcomes,
  eligible: readonly number[],
  envelope: Envelope,
  room: ResponseBuffer,
) => ResponseBody

/** What one flag can answer, by outcome: what `,"key":{…}` is known by among the pieces; 0 before it is first needed. */
interface KnownPieces {
  readonly generation: number
  readonly table: Int32Array
}

/**
 * Pieces live as long as the compiled flag they are of: a change of one flag makes only its own anew. Their memory is opened by the first
 * answer: a server that nobody asks for evaluations goes without it.
 */
export function createFlagsResponseTemplates(
  openPieces: () => ResponseFragments = createResponseFragments,
): (served: ServedProject) => FlagsResponseTemplate {
  const answers = new WeakMap<ServedProject, FlagsResponseTemplate>()
  const known = new WeakMap<CompiledFlag, KnownPieces>()
  const tailOf = createTail()
  let opened: ResponseFragments | undefined
  const tableOf = (flag: CompiledFlag, generation: number): Int32Array => {
    const found = known.get(flag)
    if (found?.generation === generation) return found.table
    const table = new Int32Array(flag.outcomes.length)
    known.set(flag, { generation, table })
    return table
  }
  return served => {
    const found = answers.get(served)
    if (found !== undefined) return found
    opened ??= openPieces()
    const answer = fastAnswer(served.snapshot.flags, opened, tableOf, tailOf)
    answers.set(served, answer)
    return answer
  }
}

const opening = Buffer.from('{"errorsWhileComputingFlags":false,"flags":{')
/** As long as the other: which of them it is turns out in the end. */
const openingWithErrors = Buffer.from('{"errorsWhileComputingFlags":true ,"flags":{')
const bodyFrom = headBytesMax + opening.length
const endOfObject = 0x7d
/** Most answers need not be begun anew with more room. */
const bytesPerFlag = 400

function fastAnswer(
  flags: readonly CompiledFlag[],
  pieces: ResponseFragments,
  tableOf: (flag: CompiledFlag, generation: number) => Int32Array,
  tailOf: (envelope: Envelope) => Buffer,
): FlagsResponseTemplate {
  /** What is known of all flags one after another, to be found without going from object to object. */
  const starts = new Int32Array(flags.length)
  const table = new Int32Array(flags.reduce((count, flag) => count + flag.outcomes.length, 0))
  let generation = Number.NaN
  let roomBytes = bodyFrom + flags.length * bytesPerFlag
  let hasFailed = false

  function fillTable(): void {
    generation = pieces.generation
    let start = 0
    for (const [index, flag] of flags.entries()) {
      starts[index] = start
      table.set(tableOf(flag, generation), start)
      start += flag.outcomes.length
    }
  }

  /** A piece that is too long to be taken together with others, or that was not needed before. */
  function pieceOf(index: number, outcome: number): Uint8Array {
    const known = table[starts[index]! + outcome]!
    if (known < 0) return pieces.takeLong(known)
    const flag = flags[index]!
    const told = flag.outcomes[outcome]!
    const piece = Buffer.from(`,${JSON.stringify(flag.key)}:${JSON.stringify(flagDetail(flag, told))}`)
    const kept = pieces.keep(piece, told.failed)
    tableOf(flag, generation)[outcome] = kept
    table[starts[index]! + outcome] = kept
    return piece
  }

  /** Puts the pieces one after another. Gives where they end, or -1 when there is too little room for them. */
  function copy(outcomes: Outcomes, eligible: readonly number[], bytes: Buffer, limit: number): number {
    pieces.begin()
    if (pieces.generation !== generation) fillTable()
    let { line } = pieces
    let count = 0
    let marks = 0
    let end = bodyFrom
    const put = (piece: Uint8Array): boolean => {
      if (end + piece.length > limit) return false
      bytes.set(piece, end)
      end += piece.length
      return true
    }
    for (let position = 0; position < eligible.length; position++) {
      const index = eligible[position]!
      const outcome = outcomes.outcomeIndex(index)
      if (outcome === -1) continue
      const known = table[starts[index]! + outcome]!
      if (known > 0) {
        marks |= known
        line[count++] = known
        if (count < lineMax) continue
      }
      if (count > 0 && !put(pieces.take(count))) return -1
      count = 0
      if (known > 0) continue
      if (!put(pieceOf(index, outcome))) return -1
      marks |= flags[index]!.outcomes[outcome]!.failed ? 1 : 0
      line = pieces.line
    }
    if (count > 0 && !put(pieces.take(count))) return -1
    hasFailed = (marks & 1) === 1
    return end
  }

  return (outcomes, eligible, envelope, room) => {
    const { config } = envelope
    const tail = tailOf(envelope)
    const tailBytes = tail.length + (config?.json.length ?? 0) + 1
    let bytes = room.take(roomBytes + tailBytes)
    let end = copy(outcomes, eligible, bytes, bytes.length - tailBytes)
    while (end === -1) {
      roomBytes *= 2
      bytes = room.take(roomBytes + tailBytes)
      end = copy(outcomes, eligible, bytes, bytes.length - tailBytes)
    }
    bytes.set(tail, end)
    if (config !== undefined) bytes.set(config.json, end + tail.length)
    const to = end + tailBytes
    bytes[to - 1] = endOfObject
    // The first piece goes without its comma: the opening is written over it.
    const from = headBytesMax + (end > bodyFrom ? 1 : 0)
    bytes.set(envelope.hasErrors || hasFailed ? openingWithErrors : opening, from)
    return { bytes, from, to }
  }
}

const tailStart = '},"requestId":"'
const tailMiddle = '","evaluatedAt":'

/** What comes after the flags, without the configuration. It is kept from one answer to the next: mostly only the id is another one. */
function createTail(): (envelope: Envelope) => Buffer {
  const idFrom = tailStart.length
  let tail = Buffer.alloc(0)
  let told = Number.NaN
  return ({ requestId, evaluatedAt }) => {
    if (evaluatedAt !== told) {
      told = evaluatedAt
      tail = Buffer.from(`${tailStart}${' '.repeat(requestIdBytes)}${tailMiddle}${evaluatedAt}`, 'latin1')
    }
    tail.set(requestId, idFrom)
    return tail
  }
}
