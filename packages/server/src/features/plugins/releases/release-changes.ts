import { diffFields, type FieldChange } from '../../../domain/activity.ts'
import type { Stores } from '../../../stores.ts'
import type { Organization } from '../../../tenancy.ts'
import { diffFiles } from '../install/update-source.ts'
import { getVisible, requireCanRead } from '../plugin-access.ts'
import { type ReleaseContent, releaseContentOf, releaseDigest } from './plugin-release.ts'

/** What accepting the present release of another organization's plugin would change. */
export interface ReleaseChanges {
  readonly release: string
  /** Null before the organization accepts one. */
  readonly acceptedRelease: string | null
  readonly changes: readonly FieldChange[]
  /** Whether the files of the accepted release are known; otherwise the changes contain none. */
  readonly isSourceKnown: boolean
}

/** Raises `missing` and `forbidden`. */
export async function findReleaseChanges(
  tx: Stores,
  organization: Organization,
  pluginId: number,
): Promise<ReleaseChanges> {
  requireCanRead(organization)
  const plugin = await getVisible(tx, organization, pluginId)
  const release = releaseDigest(plugin)
  const { plugin: used, pinnedDigest, isAccepted } = await tx.pluginReleases.use(organization.id, plugin)
  const files = await tx.plugins.listFiles(pluginId)
  const acceptedFiles = pinnedDigest === undefined ? files : await tx.pluginReleases.findFiles(pluginId, pinnedDigest)
  // Before the first acceptance everything is new.
  const before = isAccepted ? acceptedFiles : new Map<string, string>()
  const fields = isAccepted ? diffFields(reviewed(releaseContentOf(used)), reviewed(releaseContentOf(plugin))) : []
  return {
    release,
    acceptedRelease: isAccepted ? (pinnedDigest ?? release) : null,
    changes: [...fields, ...(before ? diffFiles(before, files) : [])],
    isSourceKnown: before !== undefined,
  }
}

/** By API field, including hosts, which decide what the plugin can reach. */
const reviewed = ({ configSchema, tag, capabilities, publicJobs, allowedHosts }: ReleaseContent) => ({
  tag,
  allowed_hosts: allowedHosts,
  capabilities,
  config_schema: configSchema,
  public_jobs: publicJobs,
})
