import { dirname, resolve } from 'node:path'
import { type Sandbox, SandboxFailure } from '../../../sandbox/sandbox.ts'
import { availableModules } from '../guest/plugin-program.ts'
import { readConfigFields } from '../package/config-field.ts'
import { type ConfigValues, checkValues, defaultValues } from '../package/config-values.ts'
import { readLocalFolder } from '../package/local-folder.ts'
import { readPackage } from '../package/plugin-package.ts'
import { inferCapabilities } from './infer-capabilities.ts'
import { openPluginRealm, type PluginCapabilities, type PluginRealm } from './plugin-realm.ts'
import { createRecordingServices, type RecordingServices } from './services/recording-services.ts'

/** What a plugin is tried with. */
export interface TrialInput {
  readonly config: ConfigValues
  readonly events: readonly unknown[]
  readonly flagChanges: readonly unknown[]
  readonly flags: readonly unknown[]
}

/** One call of the plugin and what came of it. */
export interface TrialCall {
  readonly method: string
  readonly input: unknown
  readonly outcome: { readonly value: unknown } | { readonly error: string }
}

export interface Trial {
  readonly name: string
  readonly capabilities: PluginCapabilities
  readonly calls: readonly TrialCall[]
  /** Logs, jobs, captured events and requests; requests are not made but answered with an empty object. */
  readonly seen: RecordingServices
}

/** Loads the plugin in a folder and calls everything that it offers, without a database and without a network. */
export async function tryPlugin(sandbox: Sandbox, folder: string, input: TrialInput): Promise<Trial> {
  const path = resolve(folder)
  const entries = await readLocalFolder(dirname(path), path.slice(dirname(path).length + 1))
  const { manifest, code = '' } = await readPackage(entries, undefined, availableModules)
  const name = manifest.name ?? folder
  const capabilities = await inferCapabilities(sandbox, name, code)
  const fields = readConfigFields(manifest.configSchema)
  const config = { ...defaultValues(fields), ...input.config }
  checkValues(fields, config, new Set(fields.filter(field => field.type === 'attachment').map(field => field.key)))

  const seen = createRecordingServices(url => ({ status: 200, url, headers: {}, text: '{}' }))
  const realm = await openPluginRealm(sandbox, { name, code }, seen)
  try {
    return { name, capabilities, calls: await callEverything(realm, capabilities, { ...input, config }, seen), seen }
  } finally {
    realm.close()
  }
}

async function callEverything(
  realm: PluginRealm,
  { methods, scheduled_tasks: tasks }: PluginCapabilities,
  input: TrialInput,
  seen: RecordingServices,
): Promise<TrialCall[]> {
  const calls: TrialCall[] = []
  const attempt = async (method: string, argument: unknown, work: () => Promise<{ value: unknown }>) => {
    if (realm.lost) return
    const outcome = await work().then(
      ({ value }) => ({ value }),
      error => ({ error: error instanceof SandboxFailure ? error.message : String(error) }),
    )
    calls.push({ method, input: argument, outcome })
  }
  await attempt('setupPlugin', input.config, () => realm.setup({ config: { ...input.config }, attachments: {} }))
  const over = async (method: string, items: readonly unknown[]) => {
    if (methods.includes(method))
      for (const item of items) await attempt(method, item, () => realm.call(method, [item]))
  }
  await over('processEvent', input.events)
  await over('onEvent', input.events)
  await over('composeWebhook', input.events)
  await over('beforeFlagSave', input.flags)
  await over('onFlagChange', input.flagChanges)
  for (const task of tasks) await attempt(task, null, () => realm.call(task, []))
  for (const { name, payload } of [...seen.jobs])
    await attempt(`job ${name}`, payload, () => realm.runJob(name, payload))
  return calls
}
