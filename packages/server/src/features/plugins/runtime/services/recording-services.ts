import type { SandboxLogLine } from '../../../../sandbox/sandbox.ts'
import { type Locate, locateNothing } from './geoip.ts'
import { createMemoryCache } from './memory-cache.ts'
import type { PluginFetchAnswer, PluginFetchOptions, PluginServices } from './plugin-services.ts'

/** Services that record the plugin's calls, for trial runs and tests. */
export interface RecordingServices extends PluginServices {
  readonly stored: Map<string, unknown>
  readonly jobs: { name: string; payload: unknown; at: Date }[]
  readonly captured: { event: string; properties: Readonly<Record<string, unknown>> }[]
  readonly fetched: { url: string; options: PluginFetchOptions }[]
  readonly lines: SandboxLogLine[]
}

export function createRecordingServices(
  answer?: (url: string) => PluginFetchAnswer,
  locate: Locate = locateNothing,
): RecordingServices {
  const services: RecordingServices = {
    stored: new Map(),
    jobs: [],
    captured: [],
    fetched: [],
    lines: [],
    cache: createMemoryCache(),
    storage: {
      get: async key => services.stored.get(key) ?? null,
      set: async (key, value) => {
        services.stored.set(key, value)
      },
      del: async key => {
        services.stored.delete(key)
      },
    },
    enqueueJob: async (name, payload, at) => {
      services.jobs.push({ name, payload, at })
    },
    fetch: async (url, options) => {
      services.fetched.push({ url, options })
      if (!answer) throw new Error(`${new URL(url).host} is not an allowed host.`)
      return answer(url)
    },
    callApi: async (path, options) => {
      services.fetched.push({ url: path, options })
      return { status: 200, url: path, headers: { 'content-type': 'application/json' }, text: '{}' }
    },
    capture: async (event, properties) => {
      services.captured.push({ event, properties })
    },
    locate,
    log: lines => services.lines.push(...lines),
  }
  return services
}
