import { invalid, Problem } from '../../../problem.ts'
import { type Sandbox, SandboxFailure } from '../../../sandbox/sandbox.ts'
import { openPluginRealm, type PluginCapabilities } from './plugin-realm.ts'
import type { PluginServices } from './services/plugin-services.ts'

/** Loads the code and lists what it exports. Raises `invalid` with the plugin's own error when it does not load. */
export async function inferCapabilities(sandbox: Sandbox, name: string, code: string): Promise<PluginCapabilities> {
  try {
    const realm = await openPluginRealm(sandbox, { name, code }, noServices)
    try {
      return await realm.describe()
    } finally {
      realm.close()
    }
  } catch (error) {
    if (!(error instanceof SandboxFailure)) throw error
    if (error.kind === 'neighbor') throw new Problem('unavailable', `The plugin could not be loaded: ${error.message}`)
    const reason = error.guest ? `${error.guest.name}: ${error.guest.message}` : error.message
    throw invalid(null, 'load_error', `The plugin does not load: ${reason}`)
  }
}

const refuse = async (): Promise<never> => {
  throw new Error('Services are not available while a plugin loads.')
}

const refuseNow = (): never => {
  throw new Error('Services are not available while a plugin loads.')
}

const noServices: PluginServices = {
  storage: { get: refuse, set: refuse, del: refuse },
  cache: {
    get: refuseNow,
    set: refuseNow,
    incr: refuseNow,
    expire: refuseNow,
    lpush: refuseNow,
    lrange: refuseNow,
    llen: refuseNow,
    lrem: refuseNow,
    lpop: refuseNow,
  },
  enqueueJob: refuse,
  fetch: refuse,
  callApi: refuse,
  capture: refuse,
  locate: refuseNow,
  log: () => {},
}
