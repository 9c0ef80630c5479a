import { readDistinctId, storable } from '../../domain/distinct-id.ts'
import { eventNameCharactersMax, type IncomingEvent } from '../../domain/event.ts'
import type { Properties } from '../../domain/properties.ts'
import { type Instant, instantOf, parseInstant } from '../../instant.ts'
import { invalid, Problem } from '../../problem.ts'
import { newUuid } from '../identity/secret.ts'

export const eventsPerRequestMax = 20_000

/** The request that carried the events. */
export interface Arrival {
  /** `/engage/` updates persons and needs no event name. */
  readonly path: string
  readonly ip: string | null
  readonly now: Instant
}

export interface ReadEvents {
  readonly token: string
  readonly events: readonly IncomingEvent[]
  /** Number of entries without a name or distinct id. */
  readonly malformed: number
}

type Wire = Record<string, unknown>

/**
 * Parses what SDKs send: one event, a list, or `{batch}`, with the project token wherever they put it. Throws
 * `unauthenticated` without a token, `too_large`, and `invalid` when no entry is a valid event.
 */
export function readEvents(body: unknown, arrival: Arrival): ReadEvents {
  const entries = entriesOf(body)
  const token = tokenOf(body, entries)
  if (token === undefined) {
    throw new Problem('unauthenticated', "Send the project's token as `api_key` or `token` in the body.")
  }
  if (entries.length > eventsPerRequestMax) {
    throw new Problem('too_large', `Send at most ${eventsPerRequestMax} events per request.`)
  }
  const sentAt = isObject(body) ? body.sent_at : undefined
  const events = entries.map(entry => readEvent(entry, sentAt, arrival)).filter(event => event !== undefined)
  if (events.length === 0 && entries.length > 0) {
    throw invalid(null, 'invalid_input', 'An event requires a name (`event`) and a `distinct_id`.')
  }
  return { token, events, malformed: entries.length - events.length }
}

function entriesOf(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body
  if (!isObject(body))
    throw invalid(null, 'invalid_input', 'Send an event, a list of events, or an object with `batch`.')
  return Array.isArray(body.batch) ? body.batch : [body]
}

function tokenOf(body: unknown, entries: readonly unknown[]): string | undefined {
  const places = [body, ...entries.slice(0, 1)].filter(isObject).flatMap(place => [place, place.properties])
  for (const place of places.filter(isObject)) {
    for (const name of ['api_key', 'token', '$token']) {
      const value = place[name]
      if (typeof value === 'string' && value !== '') return value
    }
  }
  return undefined
}

function readEvent(entry: unknown, sentAt: unknown, { path, ip, now }: Arrival): IncomingEvent | undefined {
  if (!isObject(entry)) return undefined
  const properties = propertiesOf(entry)
  const distinctId = readDistinctId(
    entry.distinct_id ?? entry.$distinct_id ?? properties.distinct_id ?? properties.$distinct_id,
  )
  const name = nameOf(entry, path)
  if (distinctId === undefined || name === undefined) return undefined
  const uuid = typeof entry.uuid === 'string' && uuidPattern.test(entry.uuid) ? entry.uuid.toLowerCase() : newUuid()
  return { uuid, name, distinctId, properties, at: timeOf(entry, sentAt, now), ip }
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

function nameOf(entry: Wire, path: string): string | undefined {
  if (typeof entry.event === 'string') {
    const name = storable(entry.event.slice(0, eventNameCharactersMax)).trim()
    if (name !== '') return name
  }
  return path.startsWith('/engage') ? '$identify' : undefined
}

/** `$set`, `$set_once` and `$unset` beside the properties take precedence over those inside. */
function propertiesOf(entry: Wire): Properties {
  const properties = isObject(entry.properties) ? entry.properties : {}
  const beside: Wire = {}
  for (const name of ['$set', '$set_once']) {
    const value = entry[name]
    if (!isObject(value)) continue
    const inside = properties[name]
    beside[name] = isObject(inside) ? { ...inside, ...value } : value
  }
  if (Array.isArray(entry.$unset)) beside.$unset = entry.$unset
  return Object.keys(beside).length > 0 ? { ...properties, ...beside } : properties
}

/** Converts to the server's clock: a skewed client clock shifts `timestamp` and `sent_at` alike. */
function timeOf(entry: Wire, sentAt: unknown, now: Instant): Instant {
  const arrived = Date.parse(now)
  if (typeof entry.offset === 'number' && entry.offset >= 0) return before(arrived, entry.offset)
  const happened = milliseconds(entry.timestamp)
  if (happened === undefined) return now
  const sent = milliseconds(sentAt) ?? milliseconds(entry.sent_at)
  return before(arrived, sent === undefined ? arrived - happened : sent - happened)
}

const earliest = Date.UTC(2000)

function before(arrived: number, age: number): Instant {
  return instantOf(new Date(Math.max(arrived - Math.max(0, age), earliest)))
}

function milliseconds(value: unknown): number | undefined {
  const instant = typeof value === 'string' ? parseInstant(value) : undefined
  return instant === undefined ? undefined : Date.parse(instant)
}

const isObject = (value: unknown): value is Wire => typeof value === 'object' && value !== null && !Array.isArray(value)
