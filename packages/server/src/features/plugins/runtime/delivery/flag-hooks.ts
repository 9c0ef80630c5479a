import { invalid } from '../../../../problem.ts'
import { SandboxFailure } from '../../../../sandbox/sandbox.ts'
import { type ActivePlugin, isOnPurpose } from '../active-plugin.ts'

const saveLimits = { cpuMsMax: 500, wallMsMax: 2_000 }

/**
 * Calls every `beforeFlagSave` of the project, in order, before a flag is saved. A plugin rejects the save by
 * throwing an Error or by returning a text, which becomes the `invalid` that is raised here. A plugin that is broken or
 * too slow rejects nothing: switching a flag off must be possible in any state of the plugins.
 */
export async function askBeforeSave(plugins: readonly ActivePlugin[], flag: unknown): Promise<void> {
  for (const plugin of plugins) {
    if (!plugin.offers('beforeFlagSave')) continue
    const reason = await verdict(plugin, flag)
    if (reason === undefined) continue
    const shown = plugin.redact(reason)
    plugin.noteRejected(shown)
    throw invalid(null, 'rejected_by_plugin', `${plugin.enabled.plugin.name}: ${shown}`)
  }
}

async function verdict(plugin: ActivePlugin, flag: unknown): Promise<string | undefined> {
  try {
    const answer = await plugin.ask('beforeFlagSave', [flag], saveLimits)
    return typeof answer === 'string' && answer.trim() !== '' ? answer : undefined
  } catch (error) {
    if (!(error instanceof SandboxFailure)) throw error
    return isOnPurpose(error) ? error.guest?.message : undefined
  }
}
