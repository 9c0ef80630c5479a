import type { ProblemBody } from './problem.ts'
import type { AnswerOf, BodyOf, ParamsOf, QueryOf, Route } from './route.ts'

/** A client of the API that is typed by the route table: `api.call(routes.flags.list, { params })`. */

type Given<Name extends string, T> = keyof T extends never
  ? { readonly [N in Name]?: never }
  : { readonly [N in Name]: T }
type GivenBody<R extends Route> =
  BodyOf<R> extends undefined
    ? { readonly body?: never }
    : R extends { bodyOptional: true }
      ? { readonly body?: BodyOf<R> }
      : { readonly body: BodyOf<R> }

/** What a route needs, and nothing else. */
export type RequestOf<R extends Route> = Given<'params', ParamsOf<R>> &
  GivenBody<R> & {
    readonly query?: { readonly [Q in keyof QueryOf<R>]?: string | undefined }
    readonly headers?: Readonly<Record<string, string>>
  }

/** As much of `fetch` as is used, so that no types of a platform are needed. */
export type ApiFetch = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: string },
) => Promise<{ readonly status: number; readonly ok: boolean; text(): Promise<string> }>

export interface ApiOptions {
  /** The address of the server, such as `https://flags.example.com`. */
  readonly url: string
  /** A personal API key, `phx_…`. */
  readonly key: string
  /** Default: the `fetch` of the platform. */
  readonly fetch?: ApiFetch
}

export interface Api {
  /** Sends one request. Rejects with `ApiError` for every response that is not a success. */
  call<R extends Route>(route: R, request: RequestOf<R>): Promise<AnswerOf<R>>
  /** All items of a list, page by page. */
  list<R extends Route>(route: R, request: RequestOf<R>): AsyncGenerator<ItemOf<R>, void>
}

/** What a list is of; `never` for a route that returns no list. */
export type ItemOf<R extends Route> = AnswerOf<R> extends { results: readonly (infer Item)[] } ? Item : never

export class ApiError extends Error {
  readonly status: number
  /** Machine-readable, such as `unique`. */
  readonly code: string
  /** The field at fault, if the error is about one. */
  readonly field: string | null
  readonly body: unknown

  constructor(status: number, body: unknown) {
    const { detail, code, attr } = (typeof body === 'object' && body !== null ? body : {}) as Partial<ProblemBody>
    super(detail ?? `The server responded with status ${status}.`)
    this.name = 'ApiError'
    this.status = status
    this.code = code ?? 'error'
    this.field = attr ?? null
    this.body = body
  }
}

const pageSize = 1000

/** A loop, since a pattern that looks for the end is tried again at every slash. */
function withoutTrailingSlashes(url: string): string {
  let end = url.length
  while (url[end - 1] === '/') end -= 1
  return url.slice(0, end)
}

export function createApi({ url, key, fetch = platformFetch }: ApiOptions): Api {
  const base = withoutTrailingSlashes(url)
  const call: Api['call'] = async (route, request) => {
    const { params, query, body, headers } = request as LooseRequest
    const response = await fetch(base + urlOf(route.path, params, query), {
      method: route.method,
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const result = parse(await response.text())
    if (!response.ok) throw new ApiError(response.status, result)
    return result as never
  }
  return {
    call,
    async *list(route, request) {
      for (let offset = 0; ; ) {
        const query = { ...request.query, limit: String(pageSize), offset: String(offset) }
        const page = (await call(route, { ...request, query })) as { results: never[]; next: string | null }
        yield* page.results
        offset += page.results.length
        if (page.next === null || page.results.length === 0) return
      }
    },
  }
}

interface LooseRequest {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const platformFetch: ApiFetch = (url, init) => (globalThis as unknown as { fetch: ApiFetch }).fetch(url, init)

/** The path of a route with its parameters and query. */
export function urlOf(
  path: string,
  params: Readonly<Record<string, unknown>> = {},
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const filled = path.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(String(params[name] ?? '')))
  const search = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  )
  return `${filled}/${search.length > 0 ? `?${search.join('&')}` : ''}`
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
