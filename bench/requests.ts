import { people } from './mix.ts'

/** Requests as bytes, made before the clock runs. */
export type RequestPlan =
  | { readonly kind: 'evaluate'; readonly token: string; readonly users: number }
  | {
      readonly kind: 'same'
      readonly method: string
      readonly path: string
      readonly headers: Readonly<Record<string, string>>
      readonly body?: string
    }
  /** Each with a name that nobody has had: `%` in the body stands for it. */
  | {
      readonly kind: 'new'
      readonly path: string
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }

/** The n-th request. */
export function requestsOf(plan: RequestPlan): (n: number) => Buffer {
  if (plan.kind === 'same') {
    const bytes = requestBytes(plan.method, plan.path, plan.headers, plan.body)
    return () => bytes
  }
  if (plan.kind === 'new') {
    const prefix = `${Date.now().toString(36)}-${process.pid}`
    return n => requestBytes('POST', plan.path, plan.headers, plan.body.replaceAll('%', `${prefix}-${n}`))
  }
  const all = people(plan.users).map(({ distinctId, personProperties }) =>
    requestBytes(
      'POST',
      '/flags/?v=2',
      {},
      JSON.stringify({ token: plan.token, distinct_id: distinctId, person_properties: personProperties }),
    ),
  )
  return n => all[n % all.length]!
}

function requestBytes(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
): Buffer {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const about =
    body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${fields.join('')}${about}\r\n${body ?? ''}`)
}
