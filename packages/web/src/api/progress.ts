import { type AnswerOf, type Route, urlOf } from '@halyard/contract'
import { request, unreachable } from './client.ts'
import { ApiProblem } from './problem.ts'
import type { Session } from './session.ts'

export interface ProgressInput {
  readonly params: Readonly<Record<string, string>>
  readonly body: unknown
  /** Aborting closes the connection, which cancels the work on the server. */
  readonly signal: AbortSignal
}

interface Line {
  readonly step?: string
  readonly status?: number
  readonly body?: unknown
}

/** Calls a route that streams its progress and reports each step as it starts. Throws ApiProblem. */
export async function callWithProgress<R extends Route>(
  session: Session,
  route: R,
  { params, body, signal }: ProgressInput,
  onStep: (step: string) => void,
): Promise<AnswerOf<R>> {
  const key = session.current()?.key ?? ''
  const response = await request(urlOf(route.path, params), {
    method: route.method,
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'application/x-ndjson',
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
    signal,
  })
  if (response.status === 401) session.end('expired', key)
  if (!response.ok) throw new ApiProblem(response.status, await response.json().catch(() => ({})))
  for await (const { step, status = 0, body: result } of linesOf(response, signal)) {
    if (step !== undefined) onStep(step)
    else if (status < 400) return result as AnswerOf<R>
    else throw new ApiProblem(status, result as Record<string, never>)
  }
  throw unreachable()
}

async function* linesOf(response: Response, signal: AbortSignal): AsyncGenerator<Line> {
  if (!response.body) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read().catch(error => {
      throw signal.aborted ? error : unreachable()
    })
    const lines = (rest + (value ?? '')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield JSON.parse(line) as Line
    if (done) return
  }
}
