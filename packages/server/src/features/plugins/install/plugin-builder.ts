import { invalid, Problem } from '../../../problem.ts'
import type { Sandbox } from '../../../sandbox/sandbox.ts'
import type { SecretBox } from '../../../storage/secret-box.ts'
import { availableModules } from '../guest/plugin-program.ts'
import type { InstallStep, OnStep } from '../package/install-step.ts'
import { readLocalFolder } from '../package/local-folder.ts'
import { type FetchedPackage, fetchPackage, findLatestTag, type Origins } from '../package/origins/fetch-package.ts'
import { type ParsedAddress, parseAddress } from '../package/plugin-address.ts'
import { compileFiles, type PluginPackage, readPackage } from '../package/plugin-package.ts'
import type { Plugin } from '../plugin.ts'
import { inferCapabilities } from '../runtime/infer-capabilities.ts'
import type { PluginCapabilities } from '../runtime/plugin-realm.ts'

/**
 * Builds plugins before anything is stored: fetches, checks, compiles and loads them once. This may take
 * seconds, so it is never called inside a transaction. Everything raises `invalid` with the step that failed, or
 * `unavailable` when the fault is the server's own.
 */
export interface PluginBuilder {
  /** The newest tag of a plugin with an address; undefined when its kind of address has no versions. */
  findLatest(plugin: Pick<Plugin, 'url' | 'privateToken'>): Promise<string | undefined>
  /** The package at the plugin's address, step by step. The tag is null for a local folder. */
  fetch(
    plugin: Pick<Plugin, 'url' | 'privateToken'>,
    tag: string | undefined,
    onStep?: OnStep,
    /** Cancels the download. */
    signal?: AbortSignal,
  ): Promise<ReadyPackage>
  compile(name: string, files: ReadonlyMap<string, string>): Promise<ReadyPackage>
  sealToken(token: string): string
}

export interface ReadyPackage extends PluginPackage {
  readonly tag: string | null
  readonly capabilities: PluginCapabilities | Record<string, never>
}

export interface PluginBuilderDeps {
  readonly origins: Origins
  readonly sandbox: Sandbox
  readonly secretBox: SecretBox
  readonly pluginDirectory: string
}

export const tokenPurpose = 'plugin private token'

export function createPluginBuilder({
  origins,
  sandbox,
  secretBox,
  pluginDirectory,
}: PluginBuilderDeps): PluginBuilder {
  function addressOf({ url, privateToken }: Pick<Plugin, 'url' | 'privateToken'>): ParsedAddress {
    if (url === null) throw invalid(null, 'invalid_input', 'This plugin has no URL to download it from.')
    const token = privateToken === null ? undefined : secretBox.open(privateToken, tokenPurpose)
    return { ...parseAddress(url), token }
  }

  async function load(name: string, tag: string | null, fetched: PluginPackage): Promise<ReadyPackage> {
    if (fetched.code === undefined) return { ...fetched, tag, capabilities: {} }
    const capabilities = await inferCapabilities(sandbox, fetched.manifest.name ?? name, fetched.code)
    const unknown = Object.keys(fetched.manifest.publicJobs).find(job => !capabilities.jobs.includes(job))
    if (unknown !== undefined) {
      throw invalid(
        'plugin.json',
        'invalid_input',
        `plugin.json lists the public job ${unknown}, which the code does not define.`,
      )
    }
    return { ...fetched, tag, capabilities }
  }

  async function fetchAt(
    { address, token }: ParsedAddress,
    tag: string | undefined,
    onStep: OnStep,
    signal: AbortSignal | undefined,
  ): Promise<FetchedPackage | PluginPackage> {
    if (address.host !== 'local') {
      if (tag === undefined) onStep('look_up')
      const wanted = tag ?? (await findLatestTag(origins, address, token, signal))
      return fetchPackage(origins, address, wanted, token, availableModules, onStep, signal)
    }
    onStep('unpack')
    const files = await readLocalFolder(pluginDirectory, address.folder)
    onStep('compile')
    const local = await readPackage(files, undefined, availableModules)
    return { ...local, manifest: { ...local.manifest, name: local.manifest.name ?? address.folder } }
  }

  return {
    findLatest: plugin =>
      inSteps(async () => {
        const { address, token } = addressOf(plugin)
        return address.host === 'local' ? undefined : findLatestTag(origins, address, token)
      }),
    fetch: (plugin, tag, onStep, signal) =>
      inSteps(
        async begin => {
          const fetched = await fetchAt(addressOf(plugin), tag, begin, signal)
          if (fetched.manifest.name === undefined) {
            throw invalid('plugin.json', 'required', 'plugin.json is invalid: `name` is missing.')
          }
          begin('load')
          return load(fetched.manifest.name, 'tag' in fetched ? fetched.tag : null, fetched)
        },
        onStep,
        signal,
      ),
    compile: (name, files) =>
      inSteps(async begin => {
        begin('compile')
        const compiled = await compileFiles(files, availableModules)
        begin('load')
        return load(name, null, compiled)
      }),
    sealToken: token => secretBox.seal(token, tokenPurpose),
  }
}

const failures: Readonly<Record<InstallStep, string>> = {
  look_up: 'The version could not be looked up',
  download: 'The plugin could not be downloaded',
  unpack: 'The plugin could not be unpacked',
  compile: 'The plugin could not be compiled',
  load: 'The plugin could not be loaded',
  store: 'The plugin could not be stored',
}

/** Names the step in which the server itself failed, for example because a program cannot be started. The cause is logged. */
async function inSteps<T>(
  work: (begin: OnStep) => Promise<T>,
  onStep: OnStep = () => {},
  signal?: AbortSignal,
): Promise<T> {
  let current: InstallStep = 'look_up'
  try {
    return await work(step => {
      onStep(step)
      current = step
    })
  } catch (cause) {
    if (cause instanceof Problem || signal?.aborted) throw cause
    const message = `${failures[current]}: the server failed. Nothing was changed; its log has the reason.`
    throw new Problem('unavailable', message, { code: `${current}_failed`, cause })
  }
}
