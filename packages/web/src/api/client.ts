import { type AnswerOf, type RequestOf, type Route, urlOf } from '@halyard/contract'
import { ApiProblem } from './problem.ts'
import type { Session } from './session.ts'

export type CallInput<R extends Route> = RequestOf<R> & {
  readonly signal?: AbortSignal
  /** The request is sent even when the page is being closed. */
  readonly keepalive?: boolean
}

/** Calls a route of the contract with the session's API key. Throws ApiProblem. */
export type Call = <R extends Route>(route: R, input: CallInput<R>) => Promise<AnswerOf<R>>

interface LooseInput {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal
  readonly keepalive?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

export function createCall(session: Session): Call {
  return async (route, input) => {
    const { params, query, body, signal, keepalive, headers } = input as LooseInput
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
      ...(keepalive && { keepalive }),
    })
    // Only a rejected key ends the session; a wrong password is an error of the form.
    if (response.status === 401 && key !== undefined) session.end('expired', key)
    const result = await readJson(response)
    if (!response.ok) throw new ApiProblem(response.status, (result ?? {}) as Record<string, never>)
    return result as never
  }
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
