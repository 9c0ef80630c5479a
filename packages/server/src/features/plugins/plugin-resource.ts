import type { PluginMetrics, Plugin as PluginWire, PluginWrite } from '@halyard/contract'
import type { Organization } from '../../tenancy.ts'
import type { FreeObject, Plugin, PluginContent, PluginPatch } from './plugin.ts'
import { releaseDigest, type UsedPlugin } from './releases/plugin-release.ts'
import type { PluginMetricsTotal } from './runtime/plugin-work.ts'

/** Wire ↔ domain, both ways. */

type ContentWire = Omit<PluginWire, 'id' | 'url' | 'latest_tag' | 'organization_id' | 'organization_name'>

const free = (object: FreeObject): Record<string, unknown> => object as Record<string, unknown>

export const contentToWire = (content: PluginContent): ContentWire => ({
  plugin_type: content.pluginType,
  name: content.name,
  description: content.description,
  icon: content.icon,
  config_schema: free(content.configSchema),
  tag: content.tag,
  is_global: content.isGlobal,
  capabilities: free(content.capabilities),
  metrics: free(content.metrics),
  public_jobs: free(content.publicJobs),
})

/** `measured` comes from running the plugin; a value that a client wrote has precedence. */
export function pluginToWire(plugin: Plugin, measured: FreeObject = {}): PluginWire {
  const content = contentToWire(plugin)
  return {
    id: plugin.id,
    ...content,
    url: plugin.url,
    latest_tag: plugin.latestTag,
    organization_id: plugin.organizationId,
    organization_name: plugin.organizationName,
    metrics: Object.keys(content.metrics).length > 0 ? content.metrics : free(measured),
  }
}

/** What another organization's plugin shows beside the contract's shape: what runs here, and what could. */
export const acceptanceToWire = (plugin: Plugin, { isAccepted, pinnedDigest, updateAvailable }: UsedPlugin) => {
  const release = releaseDigest(plugin)
  return {
    release,
    accepted_release: isAccepted ? (pinnedDigest ?? release) : null,
    update_available: updateAvailable,
  }
}

/** The shape of a response about no plugin in particular. */
export const blankPlugin = (organization: Organization): PluginWire => ({
  id: 0,
  plugin_type: 'source',
  name: '',
  description: '',
  url: null,
  icon: null,
  config_schema: {},
  tag: null,
  latest_tag: null,
  is_global: false,
  organization_id: organization.id,
  organization_name: organization.name,
  capabilities: {},
  metrics: {},
  public_jobs: {},
})

export const patchFromWire = (body: PluginWrite): PluginPatch => ({
  pluginType: body.plugin_type,
  name: body.name,
  description: body.description,
  icon: body.icon,
  configSchema: body.config_schema,
  tag: body.tag,
  isGlobal: body.is_global,
  capabilities: body.capabilities,
  metrics: body.metrics,
  publicJobs: body.public_jobs,
})

export const metricsToWire = (total: PluginMetricsTotal): PluginMetrics => ({
  calls: total.calls,
  failures: total.failures,
  dropped_events: total.droppedEvents,
  cpu_seconds: total.cpuMs / 1000,
  memory_bytes: total.memoryBytes,
})
