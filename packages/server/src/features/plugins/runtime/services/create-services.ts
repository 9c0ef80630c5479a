import { instantOf } from '../../../../instant.ts'
import { type Outgoing, OutgoingFailure } from '../../../../outgoing/outgoing.ts'
import type { Database } from '../../../../stores.ts'
import type { EnabledConfig } from '../../configs/plugin-config.ts'
import type { LogType } from '../plugin-work.ts'
import type { Locate } from './geoip.ts'
import { createMemoryCache } from './memory-cache.ts'
import type { PluginLogWriter } from './plugin-log.ts'
import type { PluginServices } from './plugin-services.ts'

/** Ingests an event that a plugin captures, as if an SDK had sent it with the project's token. */
export type CaptureEvent = (
  projectToken: string,
  event: {
    readonly event: string
    readonly distinct_id: string
    readonly properties: Readonly<Record<string, unknown>>
  },
) => Promise<void>

/** Calls the API of this process like an external request. Throws when the response is too large or too slow. */
export type CallApi = (request: {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}) => Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string }>

/** The property that marks events of plugins, so that plugins cannot trigger each other. */
export const markProperty = '$captured_by_plugin'

export interface ServiceParts {
  readonly database: Database
  readonly outgoing: Outgoing
  readonly log: PluginLogWriter
  readonly capture: CaptureEvent
  readonly callApi: CallApi
  readonly locate: Locate
  /** Secret to this process, so that no client can pass its events off as a plugin's. */
  readonly mark: string
  /** Called when the queue of a configuration has changed. */
  readonly onJobs: (enabled: EnabledConfig) => void
  /** Called when a job was planned. */
  readonly wake: () => void
}

const jobsMax = 1_000
const keyCharactersMax = 400
const fetchTimeoutMsMax = 10_000
const fetchBytesMax = 1024 * 1024

/** What the plugin of one configuration can reach. */
export function createServices(enabled: EnabledConfig, parts: ServiceParts): PluginServices {
  const { config, plugin } = enabled
  const { database, outgoing, log, capture, callApi, locate, mark, onJobs, wake } = parts
  const mayVisit = hostGuard(plugin.allowedHosts.filter(host => config.allowedHosts.includes(host)))
  return {
    cache: createMemoryCache(),
    storage: {
      get: key => database.read(tx => tx.pluginStorage.get(config.id, checkKey(key))),
      set: (key, value) => database.transaction(tx => tx.pluginStorage.set(config.id, checkKey(key), value)),
      del: key => database.transaction(tx => tx.pluginStorage.remove(config.id, checkKey(key))),
    },
    async enqueueJob(name, payload, at) {
      const job = { configId: config.id, kind: 'job', name, payload, runAt: instantOf(at) } as const
      await database.transaction(async tx => {
        if ((await tx.pluginJobs.count(config.id, 'job')) >= jobsMax) throw new Error('Too many jobs are waiting.')
        await tx.pluginJobs.enqueue(job, instantOf(new Date()))
      })
      onJobs(enabled)
      wake()
    },
    async fetch(url, { method, headers, body }) {
      const request = { url, method, headers, ...(body !== null && { body }), mayVisit }
      try {
        const answer = await outgoing.request({
          ...request,
          timeoutMsMax: fetchTimeoutMsMax,
          answerBytesMax: fetchBytesMax,
        })
        return { status: answer.status, url: answer.url, headers: answer.headers, text: answer.body.toString('utf8') }
      } catch (error) {
        throw error instanceof OutgoingFailure ? new Error(error.message) : error
      }
    },
    async callApi(path, { method, headers, body }, key) {
      const address = apiAddress(path)
      const own = { authorization: `Bearer ${key}`, ...(body !== null && { 'content-type': 'application/json' }) }
      return { url: address, ...(await callApi({ method, path: address, headers: { ...headers, ...own }, body })) }
    },
    async capture(event, { distinct_id: distinctId, ...properties }) {
      const isGiven = typeof distinctId === 'string' || typeof distinctId === 'number'
      const project = await database.read(tx => tx.projects.find(config.projectId))
      if (!project) throw new Error('The project is gone.')
      await capture(project.apiToken, {
        event,
        distinct_id: isGiven ? String(distinctId) : plugin.name,
        properties: { ...properties, $lib: 'halyard-plugins', [markProperty]: mark },
      })
    },
    locate,
    log(lines) {
      for (const { level, text } of lines) log.write(enabled, 'CONSOLE', level.toUpperCase() as LogType, text)
    },
  }
}

/** Plugins have the access of their keys and no other access to this process. */
function apiAddress(path: string): string {
  const url = URL.canParse(path, 'http://halyard') ? new URL(path, 'http://halyard') : undefined
  if (url?.origin !== 'http://halyard' || !url.pathname.startsWith('/api/')) {
    throw new Error('posthog.api takes a path of Halyard’s own API, such as /api/projects/.')
  }
  return url.pathname + url.search
}

/** `example.com` is itself, `*.example.com` everything below; a port must be named unless it is the usual one. */
export function hostGuard(hosts: readonly string[]): (url: URL) => boolean {
  return url => {
    const name = url.hostname.toLowerCase()
    const port = url.port
    return hosts.some(host => {
      const [wanted, wantedPort = ''] = host.split(':') as [string, string?]
      if (wantedPort !== port) return false
      return wanted.startsWith('*.') ? name.endsWith(wanted.slice(1)) : name === wanted
    })
  }
}

function checkKey(key: string): string {
  if (key.length > keyCharactersMax) throw new Error(`A key has at most ${keyCharactersMax} characters.`)
  if (key.includes('\u0000') || !key.isWellFormed())
    throw new Error('The key contains characters that cannot be stored.')
  return key
}
