import type { CallLimits, Sandbox, SandboxAnswer } from '../../../sandbox/sandbox.ts'
import type { GuestCapabilities, GuestRequest, GuestSetup } from '../guest/guest-environment.ts'
import { pluginProgram } from '../guest/plugin-program.ts'
import { createPluginHost } from './plugin-host.ts'
import type { PluginServices } from './services/plugin-services.ts'

/** A plugin's code, loaded. Every function raises a `SandboxFailure`. */
export interface PluginRealm {
  describe(): Promise<GuestCapabilities>
  /** Sets the configuration and runs `setupPlugin`. */
  setup(setup: GuestSetup): Promise<SandboxAnswer>
  call(method: string, args: readonly unknown[], limits?: Partial<CallLimits>): Promise<SandboxAnswer>
  runJob(name: string, payload: unknown, limits?: Partial<CallLimits>): Promise<SandboxAnswer>
  readonly lost: boolean
  close(): void
}

export type PluginCapabilities = GuestCapabilities

export async function openPluginRealm(
  sandbox: Sandbox,
  plugin: { name: string; code: string },
  services: PluginServices,
): Promise<PluginRealm> {
  const realm = await sandbox.open(pluginProgram(plugin.name, plugin.code), createPluginHost(services))
  const ask = (request: GuestRequest, limits?: Partial<CallLimits>) => realm.call(request, limits)
  return {
    describe: async () => (await ask({ op: 'describe' })).value as GuestCapabilities,
    setup: setup => ask({ op: 'setup', setup }),
    call: (method, args, limits) => ask({ op: 'call', method, args }, limits),
    runJob: (name, payload, limits) => ask({ op: 'job', name, payload }, limits),
    get lost() {
      return realm.lost
    },
    close: () => realm.close(),
  }
}
