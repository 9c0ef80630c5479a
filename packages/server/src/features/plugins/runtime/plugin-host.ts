import type { SandboxHost } from '../../../sandbox/sandbox.ts'
import { isObject } from '../package/config-field.ts'
import type { PluginFetchOptions, PluginServices } from './services/plugin-services.ts'

type HostFunction = (...args: unknown[]) => unknown

const jobDelayMsMax = 366 * 24 * 60 * 60 * 1_000

/**
 * Answers the host calls of a plugin's realm with its services. The arguments come from code that nobody has read, so
 * each is brought into the type that the service expects before it is passed on.
 */
export function createPluginHost(services: PluginServices): SandboxHost {
  const { storage, cache } = services
  const functions = new Map<string, HostFunction>([
    ['storage.get', key => storage.get(text(key))],
    ['storage.set', (key, value) => storage.set(text(key), value)],
    ['storage.del', key => storage.del(text(key))],
    ['cache.get', key => cache.get(text(key))],
    ['cache.set', (key, value, seconds) => cache.set(text(key), value, seconds === null ? null : number(seconds))],
    ['cache.incr', key => cache.incr(text(key))],
    ['cache.expire', (key, seconds) => cache.expire(text(key), number(seconds))],
    ['cache.lpush', (key, values) => cache.lpush(text(key), list(values))],
    ['cache.lrange', (key, start, end) => cache.lrange(text(key), number(start), number(end))],
    ['cache.llen', key => cache.llen(text(key))],
    ['cache.lrem', (key, count, value) => cache.lrem(text(key), number(count), value)],
    ['cache.lpop', (key, count) => cache.lpop(text(key), number(count))],
    ['jobs.enqueue', (name, payload, at) => services.enqueueJob(text(name), payload, jobDate(at))],
    ['posthog.capture', (event, properties) => services.capture(text(event), isObject(properties) ? properties : {})],
    ['posthog.api', (path, options) => services.callApi(text(path), fetchOptions(options), keyOf(options))],
    ['fetch', (url, options) => services.fetch(text(url), fetchOptions(options))],
    ['geoip.locate', address => services.locate(text(address))],
  ])
  return {
    async call(name, args) {
      const fn = functions.get(name)
      if (!fn) throw new Error(`There is no host function ${name}.`)
      return fn(...args)
    },
    log: lines => services.log(lines),
  }
}

function keyOf(options: unknown): string {
  return text(isObject(options) ? options.key : undefined)
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error('A text was expected.')
  return value
}

function number(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new Error('A number was expected.')
  return value
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Error('A list was expected.')
  return value
}

function jobDate(at: unknown): Date {
  const now = Date.now()
  const time = number(at)
  if (time > now + jobDelayMsMax) throw new Error('A job cannot be planned more than a year ahead.')
  return new Date(Math.max(time, now))
}

function fetchOptions(options: unknown): PluginFetchOptions {
  const { method, headers, body } = isObject(options) ? options : {}
  const pairs = Object.entries(isObject(headers) ? headers : {}).map(([name, value]) => [name, String(value)])
  return {
    method: typeof method === 'string' ? method : 'GET',
    headers: Object.fromEntries(pairs),
    body: typeof body === 'string' ? body : null,
  }
}
