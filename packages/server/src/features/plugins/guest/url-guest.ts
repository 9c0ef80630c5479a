import type { GuestHost } from '../../../sandbox/guest.ts'
import type { GuestEnvironment } from './guest-environment.ts'

/** `URL` and `URLSearchParams`, and the module that carries them. */
export function urlGuest(host: GuestHost, environment: GuestEnvironment): void {
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

  Object.assign(globalThis, { URL, URLSearchParams })
  environment.modules.url = { URL, URLSearchParams }
}
