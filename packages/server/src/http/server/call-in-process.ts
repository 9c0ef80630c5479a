import type { FastifyInstance, InjectOptions } from 'fastify'

interface Call {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

const answerBytesMax = 1024 * 1024
const timeoutMsMax = 10_000

/** The response body is read as text. */
const withoutEncoding = (headers: Call['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'accept-encoding'))

/** A request that never leaves the process and is served like any other. Raises an Error with a sentence. */
export async function callInProcess(app: FastifyInstance, { method, path, headers, body }: Call) {
  const signal = AbortSignal.timeout(timeoutMsMax)
  const answer = await app
    .inject({
      method: method as NonNullable<InjectOptions['method']>,
      url: path,
      headers: withoutEncoding(headers),
      ...(body !== null && { payload: body }),
      signal,
    })
    .catch(error => {
      throw signal.aborted ? new Error(`There was no answer within ${timeoutMsMax} ms.`) : error
    })
  if (answer.rawPayload.byteLength > answerBytesMax) {
    throw new Error(`The answer is larger than ${answerBytesMax} bytes.`)
  }
  const pairs = Object.entries(answer.headers).map(([name, value]) => [name, String(value)])
  return { status: answer.statusCode, headers: Object.fromEntries(pairs), text: answer.body }
}
