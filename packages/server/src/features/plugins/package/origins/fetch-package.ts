import { readArchive } from '../archive/archive.ts'
import type { OnStep } from '../install-step.ts'
import type { GitHubAddress, GitLabAddress, NpmAddress, PluginAddress } from '../plugin-address.ts'
import { type PluginPackage, readPackage } from '../plugin-package.ts'
import type { Origin } from './origin.ts'

/** The origin of each kind of address. */
export interface Origins {
  readonly npm: Origin<NpmAddress>
  readonly github: Origin<GitHubAddress>
  readonly gitlab: Origin<GitLabAddress>
}

export type RemoteAddress = Exclude<PluginAddress, { host: 'local' }>

export interface FetchedPackage extends PluginPackage {
  readonly tag: string
}

export const findLatestTag = (
  origins: Origins,
  address: RemoteAddress,
  token: string | undefined,
  signal?: AbortSignal,
): Promise<string> => originOf(origins, address).findLatest(address, token, signal)

/** Downloads, checks, unpacks and compiles. Raises `invalid` with the step that failed. */
export async function fetchPackage(
  origins: Origins,
  address: RemoteAddress,
  tag: string,
  token: string | undefined,
  available: ReadonlySet<string>,
  onStep: OnStep = () => {},
  signal?: AbortSignal,
): Promise<FetchedPackage> {
  onStep('download')
  const download = await originOf(origins, address).download(address, tag, token, signal)
  onStep('unpack')
  const entries = await readArchive(download.archive)
  onStep('compile')
  return { ...(await readPackage(entries, download.folder, available)), tag: download.tag }
}

function originOf(origins: Origins, address: RemoteAddress): Origin<RemoteAddress> {
  return origins[address.host] as Origin<RemoteAddress>
}
