import type { SecretBox } from '../../../storage/secret-box.ts'
import type { ConfigField } from '../package/config-field.ts'
import { type ConfigValues, maskSecrets, type SealedKeys } from '../package/config-values.ts'
import type { PluginConfig } from './plugin-config.ts'

type Place = Pick<PluginConfig, 'projectId' | 'pluginId'>

const purposeOf = ({ projectId, pluginId }: Place): string => `plugin config ${projectId}/${pluginId}`

/**
 * Encrypts the secret settings, and those that were encrypted before. Among the values a mask replaces each. A key
 * whose value is gone stays as null, so that its next value is secret too.
 */
export function sealSecrets(
  box: SecretBox,
  place: Place,
  fields: readonly ConfigField[],
  all: ConfigValues,
  sealed: SealedKeys,
) {
  const declared = new Set(fields.filter(field => field.secret).map(field => field.key))
  const keys = [...new Set([...sealed, ...Object.keys(all).filter(key => declared.has(key))])]
  const secrets = keys.map(key => [key, all[key] ?? null])
  return {
    values: maskSecrets(fields, all, sealed),
    sealedSecrets:
      secrets.length === 0 ? null : box.seal(JSON.stringify(Object.fromEntries(secrets)), purposeOf(place)),
  }
}

/** Encrypts secrets again for another place. Throws when the key is another one. */
export const moveSecrets = (box: SecretBox, sealed: string, from: Place, to: Place): string =>
  box.seal(box.open(sealed, purposeOf(from)), purposeOf(to))

type StoredSecrets = Pick<PluginConfig, 'values' | 'sealedSecrets'> & Place

/** The decrypted secrets alone, null for those that have no value any more. Throws when the key is another one. */
export const openSealed = (box: SecretBox, config: StoredSecrets): ConfigValues =>
  config.sealedSecrets === null ? {} : (JSON.parse(box.open(config.sealedSecrets, purposeOf(config))) as ConfigValues)

/** All settings, decrypted: what the plugin itself gets. Throws when the key is another one. */
export function openSecrets(box: SecretBox, config: StoredSecrets): ConfigValues {
  const secrets = Object.entries(openSealed(box, config)).filter(([, value]) => value !== null)
  return { ...config.values, ...Object.fromEntries(secrets) }
}
