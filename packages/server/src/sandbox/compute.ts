import { createHash, createHmac, getHashes, randomBytes, randomUUID } from 'node:crypto'

/**
 * Pure functions that QuickJS lacks and that would be slow or large inside a realm. They run in the worker, at once,
 * on strings that the message limit has already bounded; none of them can reach anything.
 */
export type ComputeFunction = (...args: unknown[]) => unknown

const randomBytesMax = 65_536
const urlParts = ['protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'] as const

export const computeFunctions: ReadonlyMap<string, ComputeFunction> = new Map<string, ComputeFunction>([
  ['url', (text, base) => urlToRecord(parseUrl(text, base))],
  ['urlWith', (text, part, value) => urlToRecord(changeUrl(parseUrl(text, undefined), part, value))],
  ['hash', (algorithm, base64) => createHash(knownHash(algorithm)).update(bytes(base64)).digest('base64')],
  ['hmac', (algorithm, key, data) => createHmac(knownHash(algorithm), bytes(key)).update(bytes(data)).digest('base64')],
  ['randomBytes', size => randomBytes(Math.min(Math.max(0, Number(size) | 0), randomBytesMax)).toString('base64')],
  ['randomUUID', () => randomUUID()],
  ['encode', (text, from, to) => Buffer.from(String(text), encoding(from)).toString(encoding(to))],
])

function parseUrl(text: unknown, base: unknown): URL {
  try {
    return base === undefined || base === null ? new URL(String(text)) : new URL(String(text), String(base))
  } catch {
    throw new TypeError(`Invalid URL: ${String(text).slice(0, 200)}`)
  }
}

function changeUrl(url: URL, part: unknown, value: unknown): URL {
  const urlPart = urlParts.find(name => name === part)
  if (urlPart) url[urlPart] = String(value)
  return url
}

function urlToRecord(url: URL): Record<string, string> {
  const record: Record<string, string> = { href: url.href, origin: url.origin }
  for (const part of urlParts) record[part] = url[part]
  return record
}

function knownHash(algorithm: unknown): string {
  const name = String(algorithm).toLowerCase()
  if (!getHashes().includes(name)) throw new TypeError(`Unknown hash algorithm: ${name.slice(0, 40)}`)
  return name
}

function bytes(base64: unknown): Buffer {
  return Buffer.from(String(base64), 'base64')
}

function encoding(name: unknown): BufferEncoding {
  const text = String(name).toLowerCase()
  if (!Buffer.isEncoding(text)) throw new TypeError(`Unknown encoding: ${text.slice(0, 40)}`)
  return text
}
