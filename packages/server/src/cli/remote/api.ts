import { readConfig } from '../../config.ts'
import { withoutTrailingSlashes } from '../../settings/setting-values.ts'
import { CommandError, UsageError } from '../usage.ts'

/** The server refused a request; the message says why in one sentence. */
export class ApiError extends CommandError {
  /** The change requests that were opened instead, when the change needs approval. */
  readonly changeRequests: readonly number[]

  constructor(message: string, changeRequests: readonly number[] = []) {
    super(message)
    this.changeRequests = changeRequests
  }
}

/** One request to a Halyard server. Raises ApiError for everything that is not a 2xx response. */
// biome-ignore lint/suspicious/noExplicitAny: responses of many routes, each read once.
export type Api = (method: string, path: string, body?: unknown, onStep?: (step: string) => void) => Promise<any>

export interface RemoteOptions {
  readonly url?: string
  readonly key?: string
  /** Why approvals and freezes are bypassed; recorded and reviewed. */
  readonly emergency?: string
  /** Why a change is made; recorded with it, or the reason of its change request. */
  readonly note?: string
}

/** Options of every command that works on a project. */
export interface ProjectOptions extends RemoteOptions {
  readonly project: string
  readonly json?: boolean
}

export const projectPath = ({ project }: Pick<ProjectOptions, 'project'>): string =>
  `/api/projects/${encodeURIComponent(project)}/`

/** `--url`, HALYARD_URL, or the address that a server with these settings listens on. */
export function serverUrl({ url }: RemoteOptions): string {
  const address = url ?? process.env.HALYARD_URL
  if (address !== undefined && address !== '') {
    if (!/^https?:\/\//.test(address))
      throw new UsageError(`"${address}" is not an http:// or https:// URL (--url, HALYARD_URL).`)
    return withoutTrailingSlashes(address)
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
  if (key) return work(connect(url, key, options), url)
  // Read on first use: health checks of containers and commands with a key need no database.
  const { withTemporaryKey } = await import('./temporary-key.ts')
  return withTemporaryKey(value => work(connect(url, value, options), url))
}

export const connect =
  (url: string, key: string, { emergency, note }: Pick<RemoteOptions, 'emergency' | 'note'> = {}): Api =>
  async (method, path, body, onStep) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(onStep && { accept: 'application/x-ndjson' }),
        ...(emergency !== undefined && { 'x-halyard-emergency': encodeURIComponent(emergency) }),
        ...(note !== undefined && { 'x-halyard-note': encodeURIComponent(note) }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch(() => {
      throw new CommandError(
        `No Halyard server responds at ${url}. Start it with "halyard serve", or name another with --url.`,
      )
    })
    if (onStep && response.ok)
      return readSteps(response, onStep, ({ status, text }) => refusal(status, text, url, `${method} ${path}`))
    const text = await response.text()
    if (!response.ok) throw refusal(response.status, text, url, `${method} ${path}`)
    return text === '' ? undefined : JSON.parse(text)
  }

const pageSize = 1000

/** All pages of a list. The path ends with `?` or `&`. */
export async function readAll<T>(api: Api, path: string): Promise<T[]> {
  const items: T[] = []
  for (;;) {
    const { results, next } = await api('GET', `${path}limit=${pageSize}&offset=${items.length}`)
    items.push(...results)
    if (next === null || results.length === 0) return items
  }
}

/** The last line is the response, and has its status. */
async function readSteps(
  response: Response,
  onStep: (step: string) => void,
  refuse: (problem: { status: number; text: string }) => ApiError,
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
  if (status >= 400) throw refuse({ status, text: JSON.stringify(body) })
  return body
}

function refusal(status: number, text: string, url: string, request: string): ApiError {
  if (status === 401) return new ApiError(`The server at ${url} does not accept this key. Check --key or HALYARD_KEY.`)
  const { detail, change_request: opened, change_requests: several = [] } = bodyOf(text)
  if (typeof detail !== 'string')
    return new ApiError(`${request} returned ${status}. Is there a Halyard server at ${url}?`)
  if (detail === 'Project not found.')
    return new ApiError('This project does not exist for this key. See: halyard projects list')
  return opened === undefined
    ? new ApiError(detail, several)
    : new ApiError(`${detail} Change request ${opened.id}.`, [opened.id])
}

interface ProblemBody {
  readonly detail?: unknown
  readonly change_request?: { readonly id: number }
  readonly change_requests?: readonly number[]
}

function bodyOf(text: string): ProblemBody {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
