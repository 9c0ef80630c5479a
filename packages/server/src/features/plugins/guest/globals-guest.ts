import type { GuestHost } from '../../../sandbox/guest.ts'
import type { GuestEnvironment } from './guest-environment.ts'

/** `console`, `posthog` and `RetryError`, and the module that carries the last. */
export function globalsGuest(host: GuestHost, environment: GuestEnvironment): void {
  const show = (value: unknown): string => {
    if (typeof value === 'string') return value
    if (value instanceof Error) return value.stack ? `${value}\n${value.stack}` : String(value)
    try {
      return JSON.stringify(value) ?? String(value)
    } catch {
      return String(value)
    }
  }
  const logger =
    (level: string) =>
    (...values: unknown[]) =>
      host.log(level, values.map(show).join(' '))
  const console = Object.fromEntries(['debug', 'log', 'info', 'warn', 'error'].map(level => [level, logger(level)]))

  class RetryError extends Error {
    override name = 'RetryError'
  }

  const api =
    (method: string) =>
    async (path: unknown, { personalApiKey, data, headers }: Record<string, unknown> = {}) => {
      if (typeof personalApiKey !== 'string') {
        throw new Error('posthog.api needs a personalApiKey among its options, such as one from a secret setting.')
      }
      const body = data === undefined ? null : JSON.stringify(data)
      const options = { method, headers: headers ?? {}, body, key: personalApiKey }
      return environment.toResponse(await host.call('posthog.api', String(path), options))
    }
  const posthog = {
    capture: (event: unknown, properties: unknown = {}) => host.call('posthog.capture', String(event), properties),
    api: Object.fromEntries(['get', 'post', 'put', 'patch', 'delete'].map(name => [name, api(name.toUpperCase())])),
  }

  Object.assign(globalThis, { console, RetryError, posthog })
  environment.modules['@posthog/plugin-scaffold'] = { RetryError }
}
