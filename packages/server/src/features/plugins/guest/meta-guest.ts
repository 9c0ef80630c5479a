import type { GuestHost } from '../../../sandbox/guest.ts'
import type { GuestEnvironment } from './guest-environment.ts'

/** The `meta` object that every method of a plugin gets as its last argument. */
export function metaGuest(host: GuestHost, environment: GuestEnvironment): void {
  const millisecondsIn: Record<string, number> = {
    millisecond: 1,
    second: 1_000,
    minute: 60_000,
    hour: 3_600_000,
    day: 86_400_000,
    week: 604_800_000,
    month: 2_592_000_000,
    quarter: 7_776_000_000,
    year: 31_536_000_000,
  }
  const delay = (count: unknown, unit: unknown): number => {
    const milliseconds = millisecondsIn[String(unit).replace(/s$/, '')]
    if (milliseconds === undefined) throw new Error(`Unknown unit of time: ${unit}`)
    return Number(count) * milliseconds
  }

  const cache = {
    get: async (key: unknown, fallback?: unknown) => (await host.call('cache.get', String(key))) ?? fallback,
    set: (key: unknown, value: unknown, seconds?: number) =>
      host.call('cache.set', String(key), value, seconds ?? null),
    incr: (key: unknown) => host.call('cache.incr', String(key)),
    expire: (key: unknown, seconds: number) => host.call('cache.expire', String(key), seconds),
    lpush: (key: unknown, values: unknown) =>
      host.call('cache.lpush', String(key), Array.isArray(values) ? values : [values]),
    lrange: (key: unknown, start: number, end: number) => host.call('cache.lrange', String(key), start, end),
    llen: (key: unknown) => host.call('cache.llen', String(key)),
    lrem: (key: unknown, count: number, value: unknown) => host.call('cache.lrem', String(key), count, value),
    lpop: (key: unknown, count?: number) => host.call('cache.lpop', String(key), count ?? 1),
  }
  const storage = {
    get: async (key: unknown, fallback?: unknown) => (await host.call('storage.get', String(key))) ?? fallback,
    set: (key: unknown, value: unknown) =>
      value === undefined ? storage.del(key) : host.call('storage.set', String(key), value),
    del: (key: unknown) => host.call('storage.del', String(key)),
  }
  const cursor = {
    init: (key: unknown, value: unknown = 0) => cache.set(key, value),
    increment: async (key: unknown, by = 1) => {
      let last: unknown
      for (let i = 0; i < by; i += 1) last = await cache.incr(key)
      return last
    },
  }
  const job =
    (name: string) =>
    (payload: unknown = {}) => {
      const enqueue = (at: number) => host.call('jobs.enqueue', name, payload, at)
      return {
        runNow: () => enqueue(Date.now()),
        runIn: (count: unknown, unit: unknown) => enqueue(Date.now() + delay(count, unit)),
        runAt: (date: Date | number | string) => enqueue(new Date(date).getTime()),
      }
    }

  environment.createMeta = ({ config, attachments }, jobNames) => ({
    config,
    attachments: Object.fromEntries(
      Object.entries(attachments).map(([key, { contents_base64, ...file }]) => [
        key,
        { ...file, contents: Uint8Array.from(atob(contents_base64), character => character.charCodeAt(0)) },
      ]),
    ),
    global: {},
    cache,
    storage,
    geoip: { locate: (ip: unknown) => host.call('geoip.locate', String(ip)) },
    jobs: Object.fromEntries(jobNames.map(name => [name, job(name)])),
    utils: { cursor },
  })
}
