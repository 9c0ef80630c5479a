import type { GuestHost } from '../../../sandbox/guest.ts'
import type { GuestEnvironment } from './guest-environment.ts'

/** `console`, `URL`, `URLSearchParams`, `posthog` and `RetryError`, and the modules that carry the same. */
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

  class URLSearchParams {
    #pairs: [string, string][] = []
    #changed: (query: string) => void

    constructor(init: unknown = '', changed: (query: string) => void = () => {}) {
      this.#changed = changed
      if (typeof init === 'object' && init !== null) {
        const pairs = Symbol.iterator in init ? (init as Iterable<[unknown, unknown]>) : Object.entries(init)
        for (const [name, value] of pairs) this.#pairs.push([String(name), String(value)])
      } else {
        const decode = (text: string) =>
          decodeURIComponent(text.replace(/\+/g, ' ').replace(/%(?![0-9a-f]{2})/gi, '%25'))
        for (const pair of String(init).replace(/^\?/, '').split('&').filter(Boolean)) {
          const [name = '', ...value] = pair.split('=')
          this.#pairs.push([decode(name), decode(value.join('='))])
        }
      }
    }
    get(name: string) {
      return this.#pairs.find(pair => pair[0] === name)?.[1] ?? null
    }
    getAll(name: string) {
      return this.#pairs.filter(pair => pair[0] === name).map(pair => pair[1])
    }
    has(name: string) {
      return this.#pairs.some(pair => pair[0] === name)
    }
    append(name: string, value: unknown) {
      this.#pairs.push([String(name), String(value)])
      this.#changed(this.toString())
    }
    set(name: string, value: unknown) {
      const index = this.#pairs.findIndex(pair => pair[0] === name)
      this.#pairs = this.#pairs.filter((pair, i) => pair[0] !== name || i === index)
      if (index >= 0) this.#pairs[index] = [name, String(value)]
      else this.#pairs.push([name, String(value)])
      this.#changed(this.toString())
    }
    delete(name: string) {
      this.#pairs = this.#pairs.filter(pair => pair[0] !== name)
      this.#changed(this.toString())
    }
    forEach(visit: (value: string, name: string) => void) {
      for (const [name, value] of this.#pairs) visit(value, name)
    }
    entries() {
      return this.#pairs.map(pair => [...pair])[Symbol.iterator]()
    }
    keys() {
      return this.#pairs.map(pair => pair[0])[Symbol.iterator]()
    }
    values() {
      return this.#pairs.map(pair => pair[1])[Symbol.iterator]()
    }
    [Symbol.iterator]() {
      return this.entries()
    }
    toString() {
      const encode = (text: string) =>
        encodeURIComponent(text)
          .replace(/%20/g, '+')
          .replace(/[!'()~]/g, c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
      return this.#pairs.map(pair => pair.map(encode).join('=')).join('&')
    }
  }

  const parts = ['protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']

  class URL {
    #record: Record<string, string>
    searchParams: URLSearchParams

    constructor(text: unknown, base?: unknown) {
      this.#record = host.compute('url', String(text), base === undefined ? null : String(base)) as Record<
        string,
        string
      >
      this.searchParams = new URLSearchParams(this.#record.search, query => {
        this.#record = host.compute('urlWith', this.#record.href, 'search', query) as Record<string, string>
      })
      for (const part of parts) {
        Object.defineProperty(this, part, {
          enumerable: true,
          get: () => this.#record[part],
          set: value => {
            this.#record = host.compute('urlWith', this.#record.href, part, String(value)) as Record<string, string>
          },
        })
      }
    }
    get href() {
      return this.#record.href
    }
    get origin() {
      return this.#record.origin
    }
    toString() {
      return this.#record.href
    }
    toJSON() {
      return this.#record.href
    }
  }

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

  Object.assign(globalThis, { console, URL, URLSearchParams, RetryError, posthog })
  environment.modules = { url: { URL, URLSearchParams }, '@posthog/plugin-scaffold': { RetryError } }
}
