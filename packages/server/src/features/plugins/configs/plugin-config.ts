import type { Instant } from '../../../instant.ts'
import type { ConfigValues } from '../package/config-values.ts'
import type { Plugin } from '../plugin.ts'

/** A plugin as one project uses it. */
export interface PluginConfig {
  readonly id: number
  readonly projectId: number
  readonly pluginId: number
  readonly enabled: boolean
  /** Place in the chain of event processing. */
  readonly position: number
  /** Without the secrets. */
  readonly values: ConfigValues
  /** The secret settings as encrypted JSON. */
  readonly sealedSecrets: string | null
  /** Why Halyard switched it off. */
  readonly error: ConfigError | null
  readonly name: string | null
  readonly description: string | null
  readonly deleted: boolean
  /** Hosts that an admin has granted, out of those that its plugin.json requests. */
  readonly allowedHosts: readonly string[]
  readonly version: number
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

export interface ConfigError {
  readonly message: string
  readonly time: Instant
}

export interface AttachmentInfo {
  readonly id: number
  readonly key: string
  readonly fileName: string
  readonly contentType: string
  readonly sizeBytes: number
}

export interface NewAttachment {
  readonly fileName: string
  readonly contentType: string
  readonly contentsBase64: string
}

export type StoredAttachment = AttachmentInfo & Pick<NewAttachment, 'contentsBase64'>

/** A configuration that runs, with what it runs. */
export interface EnabledConfig {
  readonly config: PluginConfig
  /** As the project's organization has accepted it. */
  readonly plugin: Plugin
  /** Of the accepted release, when the owner has changed the plugin since. */
  readonly pinnedDigest: string | undefined
  readonly organizationId: string
}
