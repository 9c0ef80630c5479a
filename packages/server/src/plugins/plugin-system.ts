import { resolve } from 'node:path'
import type { Config } from '../config.ts'
import { createGuardedClient } from '../outgoing/guarded-client.ts'
import { createWorkerSandbox } from '../sandbox/worker-sandbox.ts'
import { createGitHubOrigin } from './package/github-origin.ts'
import { createGitLabOrigin } from './package/gitlab-origin.ts'
import { createNpmOrigin } from './package/npm-origin.ts'
import { readNpmSettings } from './package/npm-settings.ts'
import { createSecretBox } from './secret-box.ts'
import { createWorkshop, type Workshop } from './workshop.ts'

/** Everything of plugins that lives as long as the process, put together. */
export interface PluginSystem {
  readonly workshop: Workshop
  close(): Promise<void>
}

export type PluginSettings = Pick<
  Config,
  | 'npmRegistry'
  | 'pluginDirectory'
  | 'pluginWorkers'
  | 'trustedOrigins'
  | 'gitHubApi'
  | 'gitHubToken'
  | 'gitLabApi'
  | 'gitLabToken'
>

export function createPluginSystem(config: PluginSettings, secretKey: string): PluginSystem {
  const environment = { ...process.env, ...(config.npmRegistry && { HALYARD_NPM_REGISTRY: config.npmRegistry }) }
  const npmSettings = readNpmSettings(environment, process.cwd())
  const gitOrigins = [config.gitHubApi, config.gitLabApi].filter(url => url !== undefined)
  const outgoing = createGuardedClient({ trustedOrigins: [...npmSettings.origins, ...gitOrigins] })
  const sandbox = createWorkerSandbox(config.pluginWorkers === undefined ? {} : { workersMax: config.pluginWorkers })
  const workshop = createWorkshop({
    origins: {
      npm: createNpmOrigin(outgoing, npmSettings),
      github: createGitHubOrigin(outgoing, { api: config.gitHubApi, token: config.gitHubToken }),
      gitlab: createGitLabOrigin(outgoing, { api: config.gitLabApi, token: config.gitLabToken }),
    },
    sandbox,
    secretBox: createSecretBox(secretKey),
    pluginDirectory: resolve(config.pluginDirectory),
  })
  return {
    workshop,
    async close() {
      await sandbox.close()
      await outgoing.close()
    },
  }
}
