import { createHash } from 'node:crypto'
import type { Instant } from '../../../instant.ts'
import type { Plugin } from '../plugin.ts'

/**
 * What a plugin does, at one moment: everything that decides how it runs. An organization that uses a plugin of
 * another organization accepts releases one by one, and runs no other.
 */
export type ReleaseContent = Pick<
  Plugin,
  'name' | 'description' | 'icon' | 'configSchema' | 'tag' | 'capabilities' | 'publicJobs' | 'allowedHosts'
>

export interface PluginRelease {
  readonly pluginId: number
  readonly digest: string
  readonly content: ReleaseContent
  readonly code: string | undefined
  readonly files: ReadonlyMap<string, string>
}

export interface Acceptance {
  readonly organizationId: string
  readonly pluginId: number
  readonly digest: string
  readonly acceptedAt: Instant
}

/** A plugin as an organization uses it. */
export interface UsedPlugin {
  /** With the content of the accepted release. */
  readonly plugin: Plugin
  /** Undefined while the plugin itself is what runs. */
  readonly pinnedDigest: string | undefined
  readonly isAccepted: boolean
  /** The owner has changed the plugin since it was accepted. */
  readonly updateAvailable: boolean
}

const sha256 = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex')

/** Changes with any file and with the compiled code. */
export const digestFiles = (files: ReadonlyMap<string, string>, code: string | undefined): string =>
  sha256([[...files].sort(([a], [b]) => (a < b ? -1 : 1)), code ?? null])

/** Name, description and icon may change without another acceptance: they run nothing. */
export const releaseDigest = (
  plugin: Pick<Plugin, 'filesDigest' | 'capabilities' | 'configSchema' | 'publicJobs' | 'allowedHosts'>,
): string =>
  sha256([plugin.filesDigest, plugin.capabilities, plugin.configSchema, plugin.publicJobs, plugin.allowedHosts])

export const releaseContentOf = (plugin: Plugin): ReleaseContent => ({
  name: plugin.name,
  description: plugin.description,
  icon: plugin.icon,
  configSchema: plugin.configSchema,
  tag: plugin.tag,
  capabilities: plugin.capabilities,
  publicJobs: plugin.publicJobs,
  allowedHosts: plugin.allowedHosts,
})
