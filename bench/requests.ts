import type { Subject } from '@halyard/engine'
import { people, personAt } from './mix.ts'
import { unleashContext } from './peers/unleash-features.ts'
import { distinctIdOf } from './scale/distinct-ids.ts'

/** How clients ask for all flags of one person after another. */
export const shapes = [
  'plain',
  'gzip',
  'stored',
  'stored + gzip',
  'mixed',
  'first request',
  'new connections',
  'OFREP',
] as const
export type Shape = (typeof shapes)[number]

/** Requests, serialized before the measurement starts. */
export type RequestPlan =
  | {
      readonly kind: 'evaluate'
      readonly shape: Shape
      readonly token: string
      /** One after another, beginning with the first of them. */
      readonly users: readonly [from: number, to: number]
    }
  /** The mixed shape in Unleash's format. It stores no properties, so that every request contains them. */
  | {
      readonly kind: 'evaluate-unleash'
      readonly headers: Headers
      readonly users: readonly [from: number, to: number]
    }
  /** Any of so many persons of `bench/scale/bulk-persons.ts`. */
  | {
      readonly kind: 'random person'
      readonly hasProperties: boolean
      readonly token: string
      readonly persons: number
    }
  /** Batches of events of many users, half of them uses of flags. */
  | { readonly kind: 'events'; readonly token: string }
  /** Batches of events that are each the first of its person and name, as long as there are such. */
  | { readonly kind: 'first events'; readonly token: string }
  | { readonly kind: 'same'; readonly method: string; readonly path: string; readonly headers: Headers }
  /** Each request has a unique name, which replaces `%` in the body. */
  | { readonly kind: 'new'; readonly path: string; readonly headers: Headers; readonly body: string }

type Headers = Readonly<Record<string, string>>

/** The n-th request. */
export function requestsOf(plan: RequestPlan): (n: number) => Buffer {
  if (plan.kind === 'same') {
    const bytes = requestBytes(plan.method, plan.path, plan.headers)
    return () => bytes
  }
  if (plan.kind === 'new') {
    const prefix = `${Date.now().toString(36)}-${process.pid}`
    return n => requestBytes('POST', plan.path, plan.headers, plan.body.replaceAll('%', `${prefix}-${n}`))
  }
  if (plan.kind === 'random person') {
    const person_properties = plan.hasProperties ? personAt(1).personProperties : undefined
    return () => {
      const distinct_id = distinctIdOf(1 + Math.floor(Math.random() * (plan.persons - 1)))
      return requestBytes(
        'POST',
        '/flags/?v=2',
        {},
        JSON.stringify({ token: plan.token, distinct_id, person_properties }),
      )
    }
  }
  if (plan.kind === 'events') {
    const batches = Array.from({ length: eventBatches }, (_, index) => eventsBytes(plan.token, index))
    return n => batches[n % batches.length]!
  }
  if (plan.kind === 'first events') return n => firstEventsBytes(plan.token, n)
  const all = people(plan.users[0], plan.users[1]).map((person, index) =>
    plan.kind === 'evaluate'
      ? evaluationBytes(plan.shape === 'mixed' ? mixed[index % mixed.length]! : plan.shape, plan.token, person)
      : unleashBytes(plan.headers, person, index % 2 === 1),
  )
  return n => all[n % all.length]!
}

/** A quarter each. */
const mixed = ['plain', 'gzip', 'stored', 'stored + gzip'] as const
const gzip = { 'accept-encoding': 'gzip' }

function evaluationBytes(shape: Exclude<Shape, 'mixed'>, token: string, person: Subject): Buffer {
  const { distinctId: distinct_id, personProperties: person_properties } = person
  const evaluate = (headers: Headers, body: object) =>
    requestBytes('POST', '/flags/?v=2', headers, JSON.stringify({ token, distinct_id, ...body }))
  switch (shape) {
    case 'plain':
      return evaluate({}, { person_properties })
    case 'gzip':
      return evaluate(gzip, { person_properties })
    case 'stored':
    case 'first request':
      return evaluate({}, {})
    case 'stored + gzip':
      return evaluate(gzip, {})
    case 'new connections':
      return evaluate({ connection: 'close' }, { person_properties })
    case 'OFREP': {
      const context = { targetingKey: distinct_id, ...person_properties }
      const headers = { authorization: `Bearer ${token}` }
      return requestBytes('POST', '/ofrep/v1/evaluate/flags', headers, JSON.stringify({ context }))
    }
  }
}

const unleashBytes = (headers: Headers, person: Subject, isZipped: boolean): Buffer =>
  requestBytes(
    'POST',
    '/api/frontend',
    { ...headers, ...(isZipped && gzip) },
    JSON.stringify({ context: unleashContext(person) }),
  )

export const eventsPerRequest = 100
/** Sent one after another, again and again: 100,000 users. */
const eventBatches = 1000

/** As many as the behavioral cohorts of a project may name. */
export const actionNames = Array.from({ length: 25 }, (_, index) => `action-${index}`)
const actors = 20_000
export const usualNames = ['viewed', 'searched', 'added to cart', 'paid', 'returned']

function eventsBytes(token: string, index: number): Buffer {
  const batch = Array.from({ length: eventsPerRequest }, (_, at) => {
    const distinct_id = distinctIdOf(index * eventsPerRequest + at)
    const use = { $feature_flag: `feature-${at % 10}-rollout`, $feature_flag_response: at % 3 !== 0 }
    return at % 2 === 0
      ? { event: '$feature_flag_called', distinct_id, properties: use }
      : {
          event: usualNames[at % usualNames.length],
          distinct_id,
          properties: { n: at },
        }
  })
  return requestBytes('POST', '/batch/', {}, JSON.stringify({ api_key: token, batch }))
}

function firstEventsBytes(token: string, index: number): Buffer {
  const batch = Array.from({ length: eventsPerRequest }, (_, at) => {
    const position = index * eventsPerRequest + at
    const event = actionNames[Math.floor(position / actors) % actionNames.length]
    return { event, distinct_id: distinctIdOf(position % actors), properties: { n: at } }
  })
  return requestBytes('POST', '/batch/', {}, JSON.stringify({ api_key: token, batch }))
}

function requestBytes(method: string, path: string, headers: Headers, body?: string): Buffer {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const bodyHeaders =
    body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${fields.join('')}${bodyHeaders}\r\n${body ?? ''}`,
  )
}
