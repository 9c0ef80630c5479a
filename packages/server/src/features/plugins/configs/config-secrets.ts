import type { ConfigField } from '../package/config-field.ts'
import { type ConfigValues, maskSecrets } from '../package/config-values.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import type { PluginConfig } from './plugin-config.ts'

type Place = Pick<PluginConfig, 'projectId' | 'pluginId'>

const purposeOf = ({ projectId, pluginId }: Place): string => `plugin config ${projectId}/${pluginId}`

/** Encrypts the secret settings; in their place among the values stands a mask, or nothing for an empty one. */
export function sealSecrets(box: SecretBox, place: Place, fields: readonly ConfigField[], all: ConfigValues) {
  const isSecret = new Set(fields.filter(field => field.secret).map(field => field.key))
  const secrets = Object.entries(all).filter(([key]) => isSecret.has(key))
  return {
    values: maskSecrets(fields, all),
    sealedSecrets:
      secrets.length === 0 ? null : box.seal(JSON.stringify(Object.fromEntries(secrets)), purposeOf(place)),
  }
}

/** Locks secrets anew for another place. Throws when the key is another one. */
export const moveSecrets = (box: SecretBox, sealed: string, from: Place, to: Place): string =>
  box.seal(box.open(sealed, purposeOf(from)), purposeOf(to))

/** All settings in the clear: what the plugin itself gets. Throws when the key is another one. */
export function openSecrets(
  box: SecretBox,
  config: Pick<PluginConfig, 'values' | 'sealedSecrets'> & Place,
): ConfigValues {
  if (config.sealedSecrets === null) return config.values
  return { ...config.values, ...(JSON.parse(box.open(config.sealedSecrets, purposeOf(config))) as ConfigValues) }
}
