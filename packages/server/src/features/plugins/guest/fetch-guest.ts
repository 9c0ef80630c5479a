import type { GuestHost } from '../../../sandbox/guest.ts'
import type { GuestEnvironment } from './guest-environment.ts'

/** `fetch` and its Response. The host decides whether a request is made. */
export function fetchGuest(host: GuestHost, environment: GuestEnvironment): void {
  class Headers {
    #values = new Map<string, string>()

    constructor(init: unknown = {}) {
      const isIterable = typeof init === 'object' && init !== null && Symbol.iterator in init
      const pairs = isIterable ? (init as Iterable<[unknown, unknown]>) : Object.entries(init ?? {})
      for (const [name, value] of pairs) this.set(name, value)
    }
    get(name: unknown) {
      return this.#values.get(String(name).toLowerCase()) ?? null
    }
    has(name: unknown) {
      return this.#values.has(String(name).toLowerCase())
    }
    set(name: unknown, value: unknown) {
      this.#values.set(String(name).toLowerCase(), String(value))
    }
    append(name: unknown, value: unknown) {
      const old = this.get(name)
      this.set(name, old === null ? value : `${old}, ${value}`)
    }
    delete(name: unknown) {
      this.#values.delete(String(name).toLowerCase())
    }
    forEach(visit: (value: string, name: string) => void) {
      for (const [name, value] of this.#values) visit(value, name)
    }
    entries() {
      return this.#values.entries()
    }
    keys() {
      return this.#values.keys()
    }
    values() {
      return this.#values.values()
    }
    [Symbol.iterator]() {
      return this.entries()
    }
  }

  interface HostAnswer {
    status: number
    url: string
    headers: Record<string, string>
    text: string
  }

  class Response {
    readonly status: number
    readonly statusText = ''
    readonly ok: boolean
    readonly url: string
    readonly headers: Headers
    #text: string

    constructor(answer: HostAnswer) {
      this.status = answer.status
      this.ok = answer.status >= 200 && answer.status < 300
      this.url = answer.url
      this.headers = new Headers(answer.headers)
      this.#text = answer.text
    }
    async text() {
      return this.#text
    }
    async json() {
      return JSON.parse(this.#text)
    }
  }

  environment.toResponse = answer => new Response(answer as HostAnswer)
  environment.fetch = async (url, options = {}) => {
    const headers = Object.fromEntries(new Headers(options.headers as object))
    const method = options.method === undefined ? 'GET' : String(options.method)
    const body = options.body === undefined || options.body === null ? null : String(options.body)
    return environment.toResponse(await host.call('fetch', String(url), { method, headers, body }))
  }
  Object.assign(globalThis, { fetch: environment.fetch, Headers })
  environment.modules['node-fetch'] = environment.fetch
}
