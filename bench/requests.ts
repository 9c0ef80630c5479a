import type { Subject } from '@halyard/engine'
import { people } from './mix.ts'
import { unleashContext } from './peers/unleash-features.ts'

/** Requests, serialized before the measurement starts. */
export type RequestPlan =
  /** Evaluates all flags for one user after another, in the format of each server. */
  | { readonly kind: 'evaluate'; readonly token: string; readonly users: number; readonly keys?: readonly string[] }
  | { readonly kind: 'evaluate-unleash'; readonly headers: Readonly<Record<string, string>>; readonly users: number }
  | { readonly kind: 'evaluate-flagd'; readonly users: number }
  | {
      readonly kind: 'same'
      readonly method: string
      readonly path: string
      readonly headers: Readonly<Record<string, string>>
      readonly body?: string
    }
  /** Each request has a unique name, which replaces `%` in the body. */
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
  const all = people(plan.users).map(subject => evaluationBytes(plan, subject))
  return n => all[n % all.length]!
}

type EvaluationPlan = Extract<RequestPlan, { users: number }>

function evaluationBytes(plan: EvaluationPlan, subject: Subject): Buffer {
  const { distinctId, personProperties } = subject
  switch (plan.kind) {
    case 'evaluate': {
      const { token, keys } = plan
      const body = { token, distinct_id: distinctId, person_properties: personProperties }
      return requestBytes('POST', '/flags/?v=2', {}, JSON.stringify({ ...body, flag_keys_to_evaluate: keys }))
    }
    case 'evaluate-unleash':
      return requestBytes('POST', '/api/frontend', plan.headers, JSON.stringify({ context: unleashContext(subject) }))
    case 'evaluate-flagd': {
      const context = { targetingKey: distinctId, ...personProperties }
      return requestBytes('POST', '/evaluate', {}, JSON.stringify({ context }))
    }
  }
}

function requestBytes(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
): Buffer {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const bodyHeaders =
    body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${fields.join('')}${bodyHeaders}\r\n${body ?? ''}`,
  )
}
