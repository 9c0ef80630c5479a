import type { ResponseBuffer } from './response-buffer.ts'

/** An answer that is ready at once: a head that was prepared, and a body. */
export interface FastResponse extends ResponseBody {
  readonly head: ResponseHead
}

/** Where a body lies, from `from` to `to`. Before it there is room for a head. */
export interface ResponseBody {
  readonly bytes: Buffer
  readonly from: number
  readonly to: number
}

/** Status and headers of an answer, ready for both ways to send it. */
export interface ResponseHead {
  readonly status: number
  /** Names and values by turns, as Node takes them. */
  readonly fields: readonly string[]
  /** The same as text, after the status line. */
  readonly text: string
  readonly hasBody: boolean
}

/** How much room there must be before a body. */
export const headBytesMax = 1024

const reasons = { 200: 'OK', 304: 'Not Modified', 503: 'Service Unavailable' } as const

export function responseHead(status: keyof typeof reasons, fields: readonly string[]): ResponseHead {
  let text = `HTTP/1.1 ${status} ${reasons[status]}\r\n`
  for (let at = 0; at < fields.length; at += 2) text += `${fields[at]}: ${fields[at + 1]}\r\n`
  return { status, fields, text, hasBody: status !== 304 }
}

/** Puts a body into the room. */
export function bodyFrom(room: ResponseBuffer, body: Uint8Array): ResponseBody {
  const to = headBytesMax + body.length
  const bytes = room.take(to)
  bytes.set(body, headBytesMax)
  return { bytes, from: headBytesMax, to }
}

/** Writes the head before the body, as Node would, and gives both as one piece of bytes. */
export function createHeadWriter(): (answer: FastResponse, keepAliveMilliseconds: number) => Buffer {
  /** The heads of this second, but for the length of the body. */
  const prepared = new Map<ResponseHead, Buffer>()
  let second = Number.NaN

  function prepare(head: ResponseHead, keepAliveMilliseconds: number): Buffer {
    const date = new Date(second * 1000).toUTCString()
    const seconds = Math.floor(keepAliveMilliseconds / 1000)
    const text = `${head.text}Date: ${date}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`
    const bytes = Buffer.from(head.hasBody ? `${text}content-length: ` : `${text}\r\n`, 'latin1')
    prepared.set(head, bytes)
    return bytes
  }

  return ({ head, bytes, from, to }, keepAliveMilliseconds) => {
    const now = Math.floor(Date.now() / 1000)
    if (now !== second) {
      second = now
      prepared.clear()
    }
    const text = prepared.get(head) ?? prepare(head, keepAliveMilliseconds)
    const start = (head.hasBody ? writeLength(bytes, from, to - from) : from) - text.length
    bytes.set(text, start)
    return bytes.subarray(start, to)
  }
}

/** Writes the length of the body and the empty line that stands before `end`. Gives the place where this begins. */
function writeLength(bytes: Buffer, end: number, length: number): number {
  let at = end
  for (const code of emptyLine) bytes[--at] = code
  let rest = length
  do {
    bytes[--at] = zero + (rest % 10)
    rest = Math.floor(rest / 10)
  } while (rest > 0)
  return at
}

const zero = 0x30
/** From its end. */
const emptyLine = [0x0a, 0x0d, 0x0a, 0x0d]
