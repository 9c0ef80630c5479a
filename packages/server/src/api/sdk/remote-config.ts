import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import type { Properties } from '../../evaluation/subjects/evaluation-request.ts'

/**
 * The configuration of posthog-js. It disables everything that Halyard does not support, so that nothing is loaded in vain.
 * `surveys` is omitted on purpose: any value, even false, makes posthog-js load a script.
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

/** Additional fields for older SDKs that call `/decide/`. */
export const olderConfig = { config: { enable_collect_everything: true }, toolbarParams: {}, isAuthenticated: false }

/** The configuration in an evaluation response, as JSON to append to other fields. Serialized once per version of a project. */
export function createConfigSerializer(): (served: ServedProject, kind: 'current' | 'older') => Buffer {
  const cached = { current: new WeakMap<ServedProject, Buffer>(), older: new WeakMap<ServedProject, Buffer>() }
  return (served, kind) => {
    const config = cached[kind].get(served) ?? serializeConfig(served.project.apiToken, kind)
    cached[kind].set(served, config)
    return config
  }
}

function serializeConfig(token: string, kind: 'current' | 'older'): Buffer {
  const fields = { ...remoteConfig(token), ...(kind === 'older' && olderConfig) }
  return Buffer.from(`,${JSON.stringify(fields).slice(1, -1)}`)
}

/** The configuration as a script. JSON within a script must not end it. */
export function remoteConfigScript(token: string): string {
  const name = scriptText(token)
  const entry = scriptText({ config: remoteConfig(token), siteApps: [] })
  return `(function(){window._POSTHOG_REMOTE_CONFIG=window._POSTHOG_REMOTE_CONFIG||{};window._POSTHOG_REMOTE_CONFIG[${name}]=${entry}})();`
}

const scriptText = (value: unknown): string =>
  JSON.stringify(value).replace(/[<\u2028\u2029]/g, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
