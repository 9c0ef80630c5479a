import type { Instant } from '../../instant.ts'
import { invalid, type Problem } from '../../problem.ts'

export type FreeObject = Readonly<Record<string, unknown>>

export type PluginType = 'local' | 'custom' | 'repository' | 'source'

export interface Plugin extends PluginContent {
  readonly id: number
  readonly organizationId: string
  /** The owner's name as it is now. */
  readonly organizationName: string
  readonly url: string | null
  /** For fetching from a private place; encrypted. */
  readonly privateToken: string | null
  readonly latestTag: string | null
  /** The address for which it was installed in one step; an organization has only one plugin for each. */
  readonly installKey: string | null
  /** Hosts that plugin.json requests. What is granted is in `PluginConfig.allowedHosts`. */
  readonly allowedHosts: readonly string[]
  /** Changes with the files; see `releases/plugin-release.ts`. */
  readonly filesDigest: string
  readonly version: number
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

/** What a writer may decide. */
export interface PluginContent {
  readonly pluginType: PluginType
  readonly name: string
  readonly description: string
  readonly icon: string | null
  readonly configSchema: FreeObject
  readonly tag: string | null
  readonly isGlobal: boolean
  readonly capabilities: FreeObject
  readonly metrics: FreeObject
  readonly publicJobs: FreeObject
}

export type PluginPatch = { readonly [Field in keyof PluginContent]?: PluginContent[Field] | undefined }

export const untitled = 'Untitled plugin'

export const newPluginContent: PluginContent = {
  pluginType: 'source',
  name: untitled,
  description: '',
  icon: null,
  configSchema: {},
  tag: null,
  isGlobal: false,
  capabilities: {},
  metrics: {},
  publicJobs: {},
}

export function contentOf(plugin: PluginContent): PluginContent {
  return {
    pluginType: plugin.pluginType,
    name: plugin.name,
    description: plugin.description,
    icon: plugin.icon,
    configSchema: plugin.configSchema,
    tag: plugin.tag,
    isGlobal: plugin.isGlobal,
    capabilities: plugin.capabilities,
    metrics: plugin.metrics,
    publicJobs: plugin.publicJobs,
  }
}

/** Sent fields replace stored ones whole. */
export function applyPatch<P extends PluginContent>(plugin: P, patch: PluginPatch): P {
  const sent = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
  return { ...plugin, ...sent }
}

export const alreadyInstalled = (): Problem =>
  invalid('url', 'unique', 'A plugin from this address is already installed. Upgrade it instead.')

/** Whether its code exports the method. */
export const offersMethod = ({ capabilities }: Pick<Plugin, 'capabilities'>, method: string): boolean =>
  Array.isArray(capabilities.methods) && capabilities.methods.includes(method)

export type NewPlugin = Omit<Plugin, 'id' | 'organizationName' | 'filesDigest'>
