import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import type { Properties } from '../../evaluation/subjects/evaluation-request.ts'

/**
 * What the browser library wants to know before it begins. It says no to everything that Halyard does not do, so that nothing is
 * loaded in vain. `surveys` is left out on purpose: any value there, false too, makes the library load a script.
 */
export const remoteConfig = (token: string): Properties => ({
  token,
  supportedCompression: ['gzip', 'gzip-js'],
  hasFeatureFlags: true,
  analytics: { endpoint: '/i/v0/e/' },
  sessionRecording: false,
  heatmaps: false,
  capturePerformance: false,
  autocaptureExceptions: false,
  captureDeadClicks: false,
  autocapture_opt_out: true,
  elementsChainAsString: true,
  defaultIdentifiedOnly: true,
  siteApps: [],
})

/** What the libraries of the time of `/decide/` look for beside it. */
export const olderConfig = { config: { enable_collect_everything: true }, toolbarParams: {}, isAuthenticated: false }

/** The configuration that comes with an evaluation, and the same as JSON that follows other fields. */
export interface ToldConfig {
  readonly fields: Properties
  readonly json: Buffer
}

/** Each is made once for a project as it is served. */
export function createToldConfigs(): (served: ServedProject, kind: 'current' | 'older') => ToldConfig {
  const known = { current: new WeakMap<ServedProject, ToldConfig>(), older: new WeakMap<ServedProject, ToldConfig>() }
  return (served, kind) => {
    const told = known[kind].get(served) ?? toldConfig(served.project.apiToken, kind)
    known[kind].set(served, told)
    return told
  }
}

function toldConfig(token: string, kind: 'current' | 'older'): ToldConfig {
  const fields = { ...remoteConfig(token), ...(kind === 'older' && olderConfig) }
  return { fields, json: Buffer.from(`,${JSON.stringify(fields).slice(1, -1)}`) }
}

/** The configuration as a script. The token in it is known, and JSON within a script must not end it. */
export function remoteConfigScript(token: string): string {
  const name = scriptText(token)
  const entry = scriptText({ config: remoteConfig(token), siteApps: [] })
  return `(function(){window._POSTHOG_REMOTE_CONFIG=window._POSTHOG_REMOTE_CONFIG||{};window._POSTHOG_REMOTE_CONFIG[${name}]=${entry}})();`
}

const scriptText = (value: unknown): string =>
  JSON.stringify(value).replace(/[<\u2028\u2029]/g, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
