import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that a receiver got. */
export interface ReceivedRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface Receiver {
  readonly url: string
  readonly host: string
  readonly requests: readonly ReceivedRequest[]
  close(): void
}

/** Collects requests and answers each with an empty object, as a collector does. */
export async function startReceiver(): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    requests.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    url: `http://${host}`,
    requests,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

export interface ReceivedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: readonly Attribute[]
  readonly events: readonly { readonly name: string; readonly attributes: readonly Attribute[] }[]
}

const json = (receiver: Receiver, path: string) =>
  // biome-ignore lint/suspicious/noExplicitAny: only what a test looks for is typed.
  receiver.requests.filter(request => request.path === path).map(({ body }) => JSON.parse(String(body)) as any)

export const spansOf = (receiver: Receiver): ReceivedSpan[] =>
  json(receiver, '/v1/traces').flatMap(({ resourceSpans }) =>
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    resourceSpans.flatMap((one: any) => one.scopeSpans.flatMap((scope: any) => scope.spans)),
  )

interface LogRecord {
  readonly traceId?: string
  readonly spanId?: string
  readonly eventName?: string
  readonly body: { readonly stringValue: string }
  readonly attributes: Attribute[]
}

export const logsOf = (receiver: Receiver): LogRecord[] =>
  json(receiver, '/v1/logs').flatMap(({ resourceLogs }) =>
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    resourceLogs.flatMap((one: any) => one.scopeLogs.flatMap((scope: any) => scope.logRecords)),
  )

/** The last export of metrics. */
export function lastMetrics(receiver: Receiver) {
  const [resource] = json(receiver, '/v1/metrics').at(-1)?.resourceMetrics ?? []
  return {
    resource: valuesOf(resource?.resource.attributes ?? []),
    names: new Set<string>(resource?.scopeMetrics[0].metrics.map(({ name }: { name: string }) => name)),
  }
}

export const valuesOf = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
