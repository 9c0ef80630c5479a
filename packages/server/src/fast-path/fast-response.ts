import { STATUS_CODES } from 'node:http'
import type { ResponseMemory } from './response-batch.ts'

/** A response that is ready to be written: a prepared head, a request id and a body. */
export interface FastResponse extends ResponseBody {
  readonly head: ResponseHead
  readonly requestId: string
}

/** The body is `bytes` from `from` to `to`. Before it there are `headBytesMax` bytes for the head. */
export interface ResponseBody {
  readonly bytes: Buffer
  readonly from: number
  readonly to: number
}

/** Status line and headers, without those that differ from response to response. */
export interface ResponseHead {
  readonly text: string
  readonly hasBody: boolean
}

export const headBytesMax = 1280

export function responseHead(status: number, headers: Readonly<Record<string, string>>): ResponseHead {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return { text: `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}`, hasBody: status !== 304 }
}

/** Copies a body into the memory. */
export function bodyIn(memory: ResponseMemory, body: Uint8Array): ResponseBody {
  const to = headBytesMax + body.length
  const bytes = memory.take(to)
  bytes.set(body, headBytesMax)
  return { bytes, from: headBytesMax, to }
}

/** Writes the head in front of the body, as Node would, and returns both as one range of bytes. */
export function createHeadWriter(): (response: FastResponse, keepAliveMilliseconds: number) => Buffer {
  /** Serialized heads of the current second, up to the request id. */
  const prepared = new Map<ResponseHead, Buffer>()
  let second = Number.NaN

  function prepare(head: ResponseHead, keepAliveMilliseconds: number): Buffer {
    const date = new Date(second * 1000).toUTCString()
    const seconds = Math.floor(keepAliveMilliseconds / 1000)
    const connection = `Date: ${date}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`
    const bytes = Buffer.from(`${head.text}${connection}x-request-id: `, 'latin1')
    prepared.set(head, bytes)
    return bytes
  }

  return ({ head, requestId, bytes, from, to }, keepAliveMilliseconds) => {
    const now = Math.floor(Date.now() / 1000)
    if (now !== second) {
      second = now
      prepared.clear()
    }
    const text = prepared.get(head) ?? prepare(head, keepAliveMilliseconds)
    const idEnd = head.hasBody ? writeLength(bytes, from, to - from) : from - emptyLine.length
    if (!head.hasBody) bytes.set(emptyLine, idEnd)
    const idStart = idEnd - requestId.length
    bytes.write(requestId, idStart, 'latin1')
    const start = idStart - text.length
    bytes.set(text, start)
    return bytes.subarray(start, to)
  }
}

const lengthField = Buffer.from('\r\ncontent-length: ')
const emptyLine = Buffer.from('\r\n\r\n')
const zero = 0x30

/** Writes the length of the body and the empty line, ending at `end`. Returns where this begins. */
function writeLength(bytes: Buffer, end: number, length: number): number {
  let at = end - emptyLine.length
  bytes.set(emptyLine, at)
  let rest = length
  do {
    bytes[--at] = zero + (rest % 10)
    rest = Math.floor(rest / 10)
  } while (rest > 0)
  at -= lengthField.length
  bytes.set(lengthField, at)
  return at
}
