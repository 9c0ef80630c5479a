import type { FlagVersion as VersionWire } from '@halyard/contract'
import { diffFields } from '../../../domain/activity.ts'
import type { Flag, FlagVersion } from '../../../domain/flag.ts'
import { userToWire } from '../../identity/user-resource.ts'
import { contentToWire } from '../flag-resource.ts'

export function versionToWire(flag: Flag, version: FlagVersion, comparedTo: FlagVersion | undefined): VersionWire {
  const content = contentToWire(version.content)
  const changes = comparedTo ? diffFields(contentToWire(comparedTo.content), content) : []
  return {
    version: version.version,
    is_current: version.version === flag.version,
    content,
    compared_to: comparedTo?.version ?? null,
    changes: changes.map(change => ({ type: 'FeatureFlag', ...change })),
    created_by: version.user && userToWire(version.user),
    created_at: version.createdAt,
  }
}
