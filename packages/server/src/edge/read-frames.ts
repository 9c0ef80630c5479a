/** One event of a stream, or after how many milliseconds to reconnect when it ends; undefined for a heartbeat. */
export type ReadFrame =
  | { readonly event: string; readonly data: string }
  | { readonly retryMilliseconds: number }
  | undefined

/** Reads server-sent events. Throws when one is too large. */
export async function* readFrames(body: AsyncIterable<Uint8Array>, charactersMax: number): AsyncGenerator<ReadFrame> {
  const decoder = new TextDecoder()
  let pieces: string[] = []
  let size = 0
  for await (const chunk of body) {
    let text = decoder.decode(chunk, { stream: true })
    for (;;) {
      const end = endOfFrame(pieces, text)
      if (end === -1) break
      pieces.push(text.slice(0, end))
      text = text.slice(end)
      const frame = parseFrame(pieces.join(''))
      pieces = []
      size = 0
      yield frame
    }
    if (text !== '') pieces.push(text)
    size += text.length
    if (size > charactersMax) throw new Error(`The upstream sent more than ${charactersMax} characters in one piece.`)
  }
}

/** The position after the empty line that ends a frame, which two chunks may split; -1 when it has not arrived yet. */
function endOfFrame(pieces: readonly string[], text: string): number {
  if (text.startsWith('\n') && pieces.at(-1)?.endsWith('\n')) return 1
  const at = text.indexOf('\n\n')
  return at === -1 ? -1 : at + 2
}

function parseFrame(text: string): ReadFrame {
  const lines = text.split('\n')
  const field = (name: string) => lines.find(line => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const data = field('data')
  const retry = field('retry')
  if (retry !== undefined && /^\d+$/.test(retry)) return { retryMilliseconds: Number(retry) }
  return data === undefined ? undefined : { event: field('event') ?? 'message', data }
}
