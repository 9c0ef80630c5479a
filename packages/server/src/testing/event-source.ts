/** A parsed server-sent event. */
export interface StreamEvent {
  readonly event: string
  readonly id: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape.
  readonly data: any
}

export interface OpenStream {
  readonly status: number
  readonly headers: Headers
  /** The next event; undefined when the stream has ended. */
  next(): Promise<StreamEvent | undefined>
  close(): void
}

/** A minimal client for server-sent events. */
export async function openStream(url: string, headers: Record<string, string> = {}): Promise<OpenStream> {
  const controller = new AbortController()
  const response = await fetch(url, { headers, signal: controller.signal })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let buffered = ''
  return {
    status: response.status,
    headers: response.headers,
    async next() {
      for (;;) {
        const end = buffered.indexOf('\n\n')
        if (end === -1) {
          const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
          if (done) return undefined
          buffered += value
          continue
        }
        const fields = buffered.slice(0, end).split('\n')
        buffered = buffered.slice(end + 2)
        const field = (name: string) => fields.find(line => line.startsWith(`${name}: `))?.slice(name.length + 2)
        const data = field('data')
        if (data !== undefined)
          return { event: field('event') ?? 'message', id: field('id') ?? '', data: JSON.parse(data) }
      }
    },
    close: () => controller.abort(),
  }
}
