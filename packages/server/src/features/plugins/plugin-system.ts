import { resolve } from 'node:path'
import type { Config } from '../../config.ts'
import type { Instant } from '../../instant.ts'
import type { OutgoingHeaders } from '../../observability/telemetry/tracing.ts'
import { createGuardedClient } from '../../outgoing/guarded-client.ts'
import { createWorkerSandbox } from '../../sandbox/worker-sandbox.ts'
import type { ChangeFeed } from '../../storage/changes/changes.ts'
import type { EphemeralChanges } from '../../storage/changes/ephemeral-changes.ts'
import { createSecretBox, type SecretBox } from '../../storage/secret-box.ts'
import type { Database } from '../../stores.ts'
import type { FlagGuard } from '../flags/flag-guard.ts'
import { contentToWire } from '../flags/flag-resource.ts'
import { createPluginBuilder, type PluginBuilder } from './install/plugin-builder.ts'
import { createGitHubOrigin } from './package/origins/github-origin.ts'
import { createGitLabOrigin } from './package/origins/gitlab-origin.ts'
import { createNpmOrigin } from './package/origins/npm-origin.ts'
import { readNpmSettings } from './package/origins/npm-settings.ts'
import { announceWork } from './runtime/announce-work.ts'
import { askBeforeSave } from './runtime/delivery/flag-hooks.ts'
import { createPluginMeter, type PluginCounters } from './runtime/plugin-meter.ts'
import { createPluginRuntime, type PluginRuntime } from './runtime/plugin-runtime.ts'
import { createRealmPool, poolRealms, realmPoolLimits } from './runtime/realm-pool.ts'
import type { CallApi, CaptureEvent } from './runtime/services/create-services.ts'
import type { Locate } from './runtime/services/geoip.ts'
import { createPluginLogWriter } from './runtime/services/plugin-log.ts'

/** Composes the parts of plugins that live as long as the process. */
export interface PluginSystem {
  readonly pluginBuilder: PluginBuilder
  readonly secretBox: SecretBox
  readonly runtime: PluginRuntime
  /** Calls the plugins that can reject the save of a flag. */
  readonly guard: FlagGuard
  wake(): void
  close(): Promise<void>
}

export type PluginSettings = Pick<
  Config,
  | 'npmRegistry'
  | 'pluginDirectory'
  | 'pluginWorkers'
  | 'pluginRealmsMax'
  | 'pluginRealmsPerOrganizationMax'
  | 'pluginMemoryMegabytesMax'
  | 'trustedOrigins'
  | 'gitHubApi'
  | 'gitHubToken'
  | 'gitLabApi'
  | 'gitLabToken'
  | 'schedulerSeconds'
>

export interface PluginSystemParts {
  readonly config: PluginSettings
  readonly secretKey: string
  readonly database: Database
  readonly changes: ChangeFeed
  readonly ephemeral: Pick<EphemeralChanges, 'publish'>
  readonly counters: PluginCounters
  /** Names this node in logs. */
  readonly node: string
  readonly capture: CaptureEvent
  readonly callApi: CallApi
  readonly locate: Locate
  /** The trace context that requests of plugins pass on. */
  readonly outgoingHeaders?: OutgoingHeaders | undefined
  readonly now: () => Instant
  readonly onError: (error: unknown) => void
}

const workEveryMs = 1_000

export function createPluginSystem(parts: PluginSystemParts): PluginSystem {
  const { config, database } = parts
  const environment = { ...process.env, ...(config.npmRegistry && { HALYARD_NPM_REGISTRY: config.npmRegistry }) }
  const npmSettings = readNpmSettings(environment, process.cwd())
  const gitOrigins = [config.gitHubApi, config.gitLabApi].filter(url => url !== undefined)
  const fetching = createGuardedClient({ trustedOrigins: () => [...npmSettings.origins, ...gitOrigins] })
  const outgoing = createGuardedClient({
    trustedOrigins: config.trustedOrigins,
    ...(parts.outgoingHeaders && { outgoingHeaders: parts.outgoingHeaders }),
  })
  const sandbox = createWorkerSandbox(config.pluginWorkers === undefined ? {} : { workersMax: config.pluginWorkers })
  const pool = createRealmPool({
    ...realmPoolLimits,
    realmsMax: config.pluginRealmsMax,
    realmsPerOrganizationMax: config.pluginRealmsPerOrganizationMax,
    memoryBytesMax: config.pluginMemoryMegabytesMax * 1024 * 1024,
  })
  const secretBox = createSecretBox(parts.secretKey)
  const pluginBuilder = createPluginBuilder({
    origins: {
      npm: createNpmOrigin(fetching, npmSettings),
      github: createGitHubOrigin(fetching, { api: config.gitHubApi, token: config.gitHubToken }),
      gitlab: createGitLabOrigin(fetching, { api: config.gitLabApi, token: config.gitLabToken }),
    },
    sandbox: poolRealms(sandbox, pool),
    secretBox,
    pluginDirectory: resolve(config.pluginDirectory),
  })
  const announcer = announceWork(parts.ephemeral)
  const runtime = createPluginRuntime({
    ...parts,
    sandbox,
    pool,
    secretBox,
    outgoing,
    log: createPluginLogWriter(database, parts.node, announcer.logged),
    onJobs: announcer.jobsChanged,
    meter: createPluginMeter(database, parts.counters),
    everyMs: config.schedulerSeconds === 0 ? 0 : workEveryMs,
  })
  return {
    pluginBuilder,
    secretBox,
    runtime,
    guard: createGuard(runtime),
    wake: runtime.wake,
    async close() {
      await runtime.close()
      await sandbox.close()
      await Promise.all([fetching.close(), outgoing.close()])
    },
  }
}

const createGuard = (runtime: PluginRuntime): FlagGuard => ({
  isActive: projectId => runtime.pluginsOf(projectId).some(plugin => plugin.offers('beforeFlagSave')),
  async check({ projectId, stored, flag }) {
    await askBeforeSave(runtime.pluginsOf(projectId), {
      id: stored?.id ?? null,
      project_id: projectId,
      ...contentToWire(flag),
      previous: stored ? contentToWire(stored) : null,
      user: flag.lastModifiedBy && { email: flag.lastModifiedBy.email, first_name: flag.lastModifiedBy.firstName },
    })
  },
})
