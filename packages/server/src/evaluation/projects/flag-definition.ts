import type { FlagDefinition } from '@halyard/engine'
import type { Flag } from '../../domain/flag.ts'

export const flagDefinition = (
  flag: Pick<
    Flag,
    | 'id'
    | 'key'
    | 'active'
    | 'deleted'
    | 'version'
    | 'filters'
    | 'ensureExperienceContinuity'
    | 'bucketingIdentifier'
    | 'override'
  >,
): FlagDefinition => ({
  id: flag.id,
  key: flag.key,
  active: flag.active && !flag.deleted,
  version: flag.version,
  filters: flag.filters,
  ensureExperienceContinuity: flag.ensureExperienceContinuity,
  bucketingIdentifier: flag.bucketingIdentifier,
  ...(flag.override && { override: flag.override }),
})
