/**
 * The first code inside every realm. It is sent there as text (`String(guest)`), so it may use nothing but its own
 * parameter and what ECMAScript itself provides. It gives the program one global, `host`, and the worker four ways
 * in. It defends nothing: all it holds belongs to the realm that it runs in, and the border is the bridge.
 */
export interface GuestBridge {
  hostCall(id: number, name: string, json: string): void
  compute(name: string, json: string): string
  log(level: string, text: string): void
  finish(json: string): void
  fail(name: string, message: string, stack: string): void
}

export interface GuestEntry {
  setDispatcher(dispatcher: unknown): void
  start(json: string): void
  hostAnswer(id: number, json: string): void
  hostFailure(id: number, message: string): void
}

/** The global `host` as a program sees it. */
export interface GuestHost {
  /** Calls the main thread; the promise is rejected with an Error with the host's message. */
  call(name: string, ...args: unknown[]): Promise<unknown>
  /** One of the pure functions of `compute.ts`, at once. */
  compute(name: string, ...args: unknown[]): unknown
  log(level: string, text: string): void
}

export function guest(bridge: GuestBridge): GuestEntry {
  const { parse, stringify } = JSON
  const toText = String
  const waiting = new Map<number, { resolve(value: unknown): void; reject(reason: unknown): void }>()
  let dispatch: (request: unknown) => unknown = () => undefined
  let hostCalls = 0

  const print = (value: unknown): string => {
    try {
      return toText(value)
    } catch {
      return 'a value that cannot be printed'
    }
  }
  const fail = (error: unknown): void => {
    const thrown = (typeof error === 'object' && error !== null ? error : { message: print(error) }) as Partial<Error>
    bridge.fail(print(thrown.name ?? 'Error'), print(thrown.message ?? ''), print(thrown.stack ?? ''))
  }
  const finish = (value: unknown): void => {
    try {
      bridge.finish(stringify(value) ?? 'null')
    } catch (error) {
      fail(error)
    }
  }
  const take = (id: number) => {
    const entry = waiting.get(id)
    waiting.delete(id)
    return entry
  }

  const host: GuestHost = {
    call(name, ...args) {
      return new Promise((resolve, reject) => {
        hostCalls += 1
        bridge.hostCall(hostCalls, print(name), stringify(args))
        waiting.set(hostCalls, { resolve, reject })
      })
    },
    compute: (name, ...args) => parse(bridge.compute(print(name), stringify(args))),
    log: (level, text) => bridge.log(print(level), print(text)),
  }
  Object.defineProperty(globalThis, 'host', { value: host, configurable: true })

  return {
    setDispatcher(dispatcher) {
      if (typeof dispatcher !== 'function') throw new TypeError('The program does not end with a dispatcher function.')
      dispatch = dispatcher as typeof dispatch
    },
    start(json) {
      new Promise(resolve => resolve(dispatch(parse(json)))).then(finish, fail)
    },
    hostAnswer: (id, json) => take(id)?.resolve(parse(json)),
    hostFailure: (id, message) => take(id)?.reject(new Error(message)),
  }
}
