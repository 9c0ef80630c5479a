import { readConfig } from '../../config.ts'
import { withoutTrailingSlashes } from '../../settings/setting-values.ts'
import { CommandError, UsageError } from '../usage.ts'

/** One request to a Halyard server. Raises CommandError with one sentence for everything that is not a 2xx response. */
// biome-ignore lint/suspicious/noExplicitAny: responses of many routes, each read once.
export type Api = (method: string, path: string, body?: unknown, onStep?: (step: string) => void) => Promise<any>

export interface RemoteOptions {
  readonly url?: string
  readonly key?: string
  /** Why approvals and freezes are bypassed; recorded and reviewed. */
  readonly emergency?: string
}

/** `--url`, HALYARD_URL, or the address that a server with these settings listens on. */
export function serverUrl({ url }: RemoteOptions): string {
  const given = url ?? process.env.HALYARD_URL
  if (given !== undefined && given !== '') {
    if (!/^https?:\/\//.test(given))
      throw new UsageError(`"${given}" is not an http:// or https:// URL (--url, HALYARD_URL).`)
    return withoutTrailingSlashes(given)
  }
  const { host, port } = readConfig(process.env)
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

/**
 * Calls a server with `--key` or HALYARD_KEY. Without one, and beside the server's database, the first owner gets a key that exists only while
 * the command runs.
 */
export async function withApi<T>(options: RemoteOptions, work: (api: Api, url: string) => Promise<T>): Promise<T> {
  const url = serverUrl(options)
  const key = options.key ?? process.env.HALYARD_KEY
  const { emergency } = options
  if (key) return work(connect(url, key, emergency), url)
  // Read on first use: health checks of containers and commands with a key need no database.
  const { withTemporaryKey } = await import('./temporary-key.ts')
  return withTemporaryKey(value => work(connect(url, value, emergency), url))
}

export const connect =
  (url: string, key: string, emergency?: string): Api =>
  async (method, path, body, onStep) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(onStep && { accept: 'application/x-ndjson' }),
        ...(emergency !== undefined && { 'x-halyard-emergency': encodeURIComponent(emergency) }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch(() => {
      throw new CommandError(
        `No Halyard server responds at ${url}. Start it with "halyard serve", or name another with --url.`,
      )
    })
    if (onStep && response.ok)
      return readSteps(response, onStep, problem => explain(problem.status, problem.text, url, `${method} ${path}`))
    const text = await response.text()
    if (!response.ok) throw new CommandError(explain(response.status, text, url, `${method} ${path}`))
    return text === '' ? undefined : JSON.parse(text)
  }

const pageSize = 1000

/** All pages of a list. The path ends with `?` or `&`. */
export async function readAll<T>(api: Api, path: string): Promise<T[]> {
  const found: T[] = []
  for (;;) {
    const { results, next } = await api('GET', `${path}limit=${pageSize}&offset=${found.length}`)
    found.push(...results)
    if (next === null || results.length === 0) return found
  }
}

/** The last line is the response, and has its status. */
async function readSteps(
  response: Response,
  onStep: (step: string) => void,
  describe: (problem: { status: number; text: string }) => string,
): Promise<unknown> {
  let rest = ''
  let last: { status?: number; body?: unknown } = {}
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      last = JSON.parse(line)
      if ('step' in last) onStep(String(last.step))
    }
  }
  const { status, body } = last
  if (status === undefined) throw new CommandError('The server ended the response before the work was done.')
  if (status >= 400) throw new CommandError(describe({ status, text: JSON.stringify(body) }))
  return body
}

function explain(status: number, text: string, url: string, request: string): string {
  if (status === 401) return `The server at ${url} does not accept this key. Check --key or HALYARD_KEY.`
  const detail = detailOf(text)
  return detail === undefined ? `${request} returned ${status}. Is there a Halyard server at ${url}?` : detail
}

function detailOf(text: string): string | undefined {
  try {
    const { detail, change_request: request } = JSON.parse(text) as {
      detail?: unknown
      change_request?: { readonly id: number }
    }
    if (typeof detail !== 'string') return undefined
    return request === undefined ? detail : `${detail} Change request ${request.id}.`
  } catch {
    return undefined
  }
}
