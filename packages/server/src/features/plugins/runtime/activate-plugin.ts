import type { Instant } from '../../../instant.ts'
import type { Sandbox } from '../../../sandbox/sandbox.ts'
import type { SecretBox } from '../../../storage/secret-box.ts'
import type { Database } from '../../../stores.ts'
import { openSealed, openSecrets } from '../configs/config-secrets.ts'
import type { EnabledConfig } from '../configs/plugin-config.ts'
import { switchOff } from '../configs/switch-off.ts'
import { createSecretRedactor, type SecretRedactor } from '../secrets/redact-secrets.ts'
import { type ActivePlugin, createActivePlugin } from './active-plugin.ts'
import type { PluginMeter } from './plugin-meter.ts'
import type { RealmPool } from './realm-pool.ts'
import { createServices, type ServiceParts } from './services/create-services.ts'
import type { PluginLogWriter } from './services/plugin-log.ts'

export interface ActivationParts extends ServiceParts {
  readonly database: Database
  readonly sandbox: Sandbox
  readonly pool: RealmPool
  readonly secretBox: SecretBox
  readonly log: PluginLogWriter
  readonly meter: PluginMeter
  readonly now: () => Instant
  readonly onError: (error: unknown) => void
}

/** A plugin whose secrets appear neither in its log nor in the reason why it was disabled. */
export function activatePlugin(enabled: EnabledConfig, parts: ActivationParts): ActivePlugin {
  const { database, sandbox, pool, log, meter, now, onError } = parts
  const { config, plugin, organizationId } = enabled
  const redactor = createSecretRedactor()
  const redactingLog: PluginLogWriter = {
    ...log,
    write: (origin, source, type, message) => log.write(origin, source, type, redactor.redact(message)),
  }
  const place = { projectId: config.projectId, organizationId, pluginName: plugin.name }
  return createActivePlugin(enabled, {
    sandbox,
    pool,
    log: redactingLog,
    meter,
    redact: redactor.redact,
    services: createServices(enabled, { ...parts, log: redactingLog }),
    load: () => load(enabled, redactor, parts),
    giveUp: reason => {
      database.transaction(tx => switchOff(tx, place, config, redactor.redact(reason), now())).catch(onError)
    },
  })
}

async function load(
  { config, plugin, pinnedDigest }: EnabledConfig,
  redactor: SecretRedactor,
  { database, secretBox }: ActivationParts,
) {
  redactor.learn(openSealed(secretBox, config))
  const [code, attachments] = await database.read(async tx => [
    pinnedDigest === undefined
      ? await tx.plugins.findCode(plugin.id)
      : await tx.pluginReleases.findCode(plugin.id, pinnedDigest),
    await tx.pluginConfigs.readAttachments(config.id),
  ])
  const files = attachments.map(({ key, contentType, fileName, contentsBase64 }) => [
    key,
    { content_type: contentType, file_name: fileName, contents_base64: contentsBase64 },
  ])
  return {
    code: code ?? '',
    setup: { config: { ...openSecrets(secretBox, config) }, attachments: Object.fromEntries(files) },
  }
}
