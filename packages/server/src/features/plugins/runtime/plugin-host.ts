import type { SandboxHost } from '../../../sandbox/sandbox.ts'
import { isObject } from '../package/config-field.ts'
import type { PluginFetchOptions, PluginServices } from './services/plugin-services.ts'

type HostFunction = (...args: unknown[]) => unknown

const jobDelayMsMax = 366 * 24 * 60 * 60 * 1_000

/**
 * Work on the main thread that one call of a plugin may cause, in units that are counted, not timed: an operation has
 * a fixed cost, and a list costs its items too.
 */
export const hostWorkMax = 500_000
const costs = { cache: 50, storage: 200, capture: 1_000, job: 1_000, api: 1_000, fetch: 500, lookup: 100 } as const

/**
 * Serves the host calls of a plugin's realm with its services. The arguments come from untrusted code, so each is
 * checked for the type that the service expects.
 */
export function createPluginHost(services: PluginServices): SandboxHost {
  const { storage, cache } = services
  let work = 0

  function spend(units: number): void {
    work += units
    if (work > hostWorkMax) throw new Error('This call has used up its work on the host.')
  }

  const priced = (cost: keyof typeof costs, fn: HostFunction): HostFunction => {
    return (...args) => {
      spend(costs[cost])
      return fn(...args)
    }
  }

  /** The list's length is spent before the list is touched. */
  const listed = (fn: (key: string, ...args: unknown[]) => unknown): HostFunction =>
    priced('cache', (key, ...args) => {
      spend(cache.llen(text(key)))
      return fn(text(key), ...args)
    })

  const functions = new Map<string, HostFunction>([
    ['storage.get', priced('storage', key => storage.get(text(key)))],
    ['storage.set', priced('storage', (key, value) => storage.set(text(key), value))],
    ['storage.del', priced('storage', key => storage.del(text(key)))],
    ['cache.get', priced('cache', key => cache.get(text(key)))],
    [
      'cache.set',
      priced('cache', (key, value, seconds) => cache.set(text(key), value, seconds === null ? null : number(seconds))),
    ],
    ['cache.incr', priced('cache', key => cache.incr(text(key)))],
    ['cache.expire', priced('cache', (key, seconds) => cache.expire(text(key), number(seconds)))],
    ['cache.lpush', listed((key, values) => cache.lpush(key, list(values)))],
    ['cache.lrange', listed((key, start, end) => cache.lrange(key, number(start), number(end)))],
    ['cache.llen', priced('cache', key => cache.llen(text(key)))],
    ['cache.lrem', listed((key, count, value) => cache.lrem(key, number(count), value))],
    ['cache.lpop', listed((key, count) => cache.lpop(key, number(count)))],
    ['jobs.enqueue', priced('job', (name, payload, at) => services.enqueueJob(text(name), payload, jobDate(at)))],
    [
      'posthog.capture',
      priced('capture', (event, properties) => services.capture(text(event), isObject(properties) ? properties : {})),
    ],
    [
      'posthog.api',
      priced('api', (path, options) => services.callApi(text(path), fetchOptions(options), keyOf(options))),
    ],
    ['fetch', priced('fetch', (url, options) => services.fetch(text(url), fetchOptions(options)))],
    ['geoip.locate', priced('lookup', address => services.locate(text(address)))],
  ])
  return {
    callStarted() {
      work = 0
    },
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
