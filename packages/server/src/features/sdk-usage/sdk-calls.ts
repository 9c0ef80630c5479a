import type { Headers } from '../../evaluation/request-runtime.ts'

export interface SdkCall {
  readonly projectId: number
  readonly library: string
  /** Empty when it is unknown. */
  readonly version: string
  readonly calls: number
}

/** Counts in memory which SDKs call, so that the database is written at most once a minute for each. */
export interface SdkCalls {
  /** On every evaluation: two map lookups. `ver` is the query parameter of posthog-js. */
  note(projectId: number, headers: Headers, ver?: string): void
  noteLibrary(projectId: number, library: unknown, version: unknown): void
  /** What was counted since the last call. */
  drain(): readonly SdkCall[]
  /** Called when an SDK is counted that was not counted since the process started. */
  onNew(listener: () => void): void
}

/** Clients choose their user agents: what exceeds these limits is not counted. */
const projectsMax = 1000
const agentsPerProjectMax = 100
const textMax = 100

interface Counter {
  calls: number
}

export function createSdkCalls(): SdkCalls {
  const projects = new Map<number, Map<string, Counter>>()
  let listener: () => void = () => {}

  function countAgent(projectId: number, key: string): void {
    let agents = projects.get(projectId)
    if (agents === undefined) {
      if (projects.size >= projectsMax) return
      agents = new Map()
      projects.set(projectId, agents)
    }
    const counter = agents.get(key)
    if (counter !== undefined) {
      counter.calls += 1
      return
    }
    if (agents.size >= agentsPerProjectMax) return
    agents.set(key, { calls: 1 })
    listener()
  }

  return {
    note(projectId, headers, ver) {
      const agent = headers['user-agent']
      if (typeof agent !== 'string' || !isSdk(agent)) return
      countAgent(projectId, ver === undefined ? agent : `${agent}\n${ver}`)
    },
    noteLibrary(projectId, library, version) {
      if (typeof library !== 'string' || library === '' || library === ownLibrary) return
      const name = library === 'web' ? 'posthog-js' : library
      countAgent(projectId, `${name}/${typeof version === 'string' ? version : ''}`)
    },
    drain() {
      const drained = new Map<string, SdkCall>()
      for (const [projectId, agents] of projects) {
        for (const [key, counter] of agents) {
          if (counter.calls === 0) continue
          const [agent = '', ver] = key.split('\n')
          const sdk = readUserAgent(agent, ver)
          const id = `${projectId} ${sdk.library} ${sdk.version}`
          drained.set(id, { projectId, ...sdk, calls: (drained.get(id)?.calls ?? 0) + counter.calls })
          counter.calls = 0
        }
        // User agents of browsers vary: without this, the first ones would fill the map for good.
        if (agents.size >= agentsPerProjectMax) agents.clear()
      }
      if (projects.size >= projectsMax) projects.clear()
      return [...drained.values()]
    },
    onNew(newListener) {
      listener = newListener
    },
  }
}

const browser = /^(?:mozilla|opera)\b/i
const sdk = /^(?:mozilla|opera|posthog|halyard|ofrep|openfeature|curl)/i
/** Events of plugins. */
const ownLibrary = 'halyard-plugins'
/** Proxies, health checks and load generators are not SDKs. */
const isSdk = (agent: string): boolean => sdk.test(agent)
const product = /^([\w.@-]+)(?:\/v?([\w.+-]*))?/

/** The library and version that a user agent names. A browser runs posthog-js, which sends its version in the query. */
export function readUserAgent(agent: string, ver: string | undefined): { library: string; version: string } {
  if (browser.test(agent)) return { library: 'posthog-js', version: clean(ver) }
  const [, library = 'unknown', version = ''] = product.exec(agent.trim()) ?? []
  return { library: clean(library), version: clean(version) }
}

const clean = (text: string | undefined): string => (text ?? '').replace(/[^\w.@+-]/g, '').slice(0, textMax)
