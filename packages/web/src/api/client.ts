import type { AnswerOf, BodyOf, ParamsOf, QueryOf, Route } from '@halyard/contract'
import { ApiProblem } from './problem.ts'
import type { Session } from './session.ts'

type Given<Name extends string, T> = keyof T extends never
  ? { readonly [N in Name]?: never }
  : { readonly [N in Name]: T }
type GivenBody<R extends Route> =
  BodyOf<R> extends undefined
    ? { readonly body?: never }
    : R extends { bodyOptional: true }
      ? { readonly body?: BodyOf<R> }
      : { readonly body: BodyOf<R> }

export type CallInput<R extends Route> = Given<'params', ParamsOf<R>> &
  GivenBody<R> & {
    readonly query?: { readonly [Q in keyof QueryOf<R>]?: string | undefined }
    readonly signal?: AbortSignal
    readonly headers?: Readonly<Record<string, string>>
  }

/** Calls a route of the contract with the session's API key. Throws ApiProblem. */
export type Call = <R extends Route>(route: R, input: CallInput<R>) => Promise<AnswerOf<R>>

interface LooseInput {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

export function createCall(session: Session): Call {
  return async (route, input) => {
    const { params, query, body, signal, headers } = input as LooseInput
    const key = session.current()?.key
    const response = await request(urlOf(route.path, params, query), {
      method: route.method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    // Only a rejected key ends the session; a wrong password is an error of the form.
    if (response.status === 401 && key !== undefined) session.end('expired', key)
    const result = await readJson(response)
    if (!response.ok) throw new ApiProblem(response.status, (result ?? {}) as Record<string, never>)
    return result as never
  }
}

export function urlOf(
  path: string,
  params: Readonly<Record<string, unknown>> = {},
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const filled = path.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(String(params[name] ?? '')))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') search.set(name, value)
  return `${filled}/${search.size > 0 ? `?${search}` : ''}`
}

export const unreachable = (): ApiProblem =>
  new ApiProblem(0, { code: 'unreachable', detail: 'The server cannot be reached.' })

/** `fetch` with a network failure as an ApiProblem. */
export async function request(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    throw (error as Error).name === 'AbortError' ? error : unreachable()
  }
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text()
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
