import type { PageOf, Window } from '../../../pagination.ts'
import type { AttachmentInfo, EnabledConfig, NewAttachment, PluginConfig, StoredAttachment } from './plugin-config.ts'

export interface PluginConfigStore {
  /** Raises StaleWrite when the project has a configuration of the plugin already. */
  create(config: Omit<PluginConfig, 'id'>): Promise<PluginConfig>
  /** Saves the configuration whose version is one above the stored one. Raises StaleWrite when it is not. */
  save(config: PluginConfig): Promise<void>
  find(projectId: number, configId: number): Promise<PluginConfig | undefined>
  findByPlugin(projectId: number, pluginId: number): Promise<PluginConfig | undefined>
  /** Those that are not deleted, in their order. */
  list(projectId: number, window: Window): Promise<PageOf<PluginConfig>>
  /** Ids of the configurations of a plugin, in all projects. */
  listIds(pluginId: number): Promise<readonly number[]>
  /** The next free position. */
  nextPosition(projectId: number): Promise<number>
  /** Everything that runs, in all projects whose organization may use plugins or in one of them, in order. */
  listEnabled(projectId?: number): Promise<readonly EnabledConfig[]>

  listAttachments(configIds: readonly number[]): Promise<ReadonlyMap<number, readonly AttachmentInfo[]>>
  /** With their contents. */
  readAttachments(configId: number): Promise<readonly StoredAttachment[]>
  /** Adds or replaces; the id of a replaced one stays. */
  putAttachment(configId: number, key: string, attachment: NewAttachment): Promise<void>
  removeAttachment(configId: number, key: string): Promise<void>
}
