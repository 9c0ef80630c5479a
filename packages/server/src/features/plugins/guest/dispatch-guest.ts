import type { GuestHost } from '../../../sandbox/guest.ts'
import type { GuestCapabilities, GuestEnvironment, GuestMeta, GuestRequest } from './guest-environment.ts'

/** Loads the plugin's code, finds its capabilities, and returns the dispatcher for the host's calls. */
export function dispatchGuest(_host: GuestHost, environment: GuestEnvironment): (request: GuestRequest) => unknown {
  const methodNames = [
    'setupPlugin',
    'teardownPlugin',
    'onEvent',
    'processEvent',
    'composeWebhook',
    'getSettings',
    'onFlagChange',
    'beforeFlagSave',
  ]
  type Method = (...args: unknown[]) => unknown
  type Offer = Record<string, unknown>

  const require = (name: string): unknown => {
    const plain = String(name).replace(/^node:/, '')
    if (Object.hasOwn(environment.modules, plain)) return environment.modules[plain]
    throw new Error(`The package "${name}" is not available to plugins.`)
  }
  const module = { exports: {} as unknown }
  const exports = module.exports
  const topLevel = environment.plugin(module, exports, require) ?? {}

  const isOffer = (value: unknown): value is Offer =>
    (typeof value === 'object' || typeof value === 'function') && value !== null
  const withDefault = (value: unknown) => (isOffer(value) ? [value, value.default] : [])
  const exported = [...withDefault(exports), ...withDefault(module.exports)].filter(isOffer)
  const isEmpty = (offer: Offer) =>
    Object.getOwnPropertyNames(offer).every(name => name === 'default' || name === '__esModule')
  const offers = exported.every(isEmpty) ? [topLevel] : exported

  const find = (name: string): Method | undefined =>
    offers.map(offer => offer[name]).find(value => typeof value === 'function') as Method | undefined
  const jobs = (offers.map(offer => offer.jobs).find(isOffer) ?? {}) as Record<string, Method>
  const jobNames = Object.keys(jobs).filter(name => typeof jobs[name] === 'function')
  const scheduled = [...new Set(offers.flatMap(offer => Object.keys(offer)))].filter(
    name => /^runEvery/.test(name) && find(name) !== undefined,
  )

  const batch = find('processEventBatch')
  const processOne: Method | undefined =
    find('processEvent') ??
    (batch &&
      (async (event, meta) => {
        const events = await batch([event], meta)
        return Array.isArray(events) ? events[0] : undefined
      }))
  const method = (name: string): Method | undefined => (name === 'processEvent' ? processOne : find(name))

  const describe = (): GuestCapabilities => ({
    methods: methodNames.filter(name => method(name) !== undefined),
    scheduled_tasks: scheduled,
    jobs: jobNames,
  })

  let meta: GuestMeta = environment.createMeta({ config: {}, attachments: {} }, jobNames)

  return request => {
    switch (request.op) {
      case 'describe':
        return describe()
      case 'setup':
        meta = environment.createMeta(request.setup, jobNames)
        return find('setupPlugin')?.(meta)
      case 'call':
        return method(request.method)?.(...request.args, meta)
      case 'job':
        if (!jobNames.includes(request.name)) throw new Error(`There is no job ${request.name}.`)
        return jobs[request.name]?.(request.payload, meta)
    }
  }
}
