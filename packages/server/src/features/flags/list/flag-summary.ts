import type { FlagSummary } from '@halyard/contract'
import { coverageOf } from '@halyard/engine'
import type { Flag } from '../../../domain/flag.ts'
import type { User } from '../../../tenancy.ts'

/** A flag without its definition, which can be large. */
export function summaryOf(flag: Flag, canEdit: boolean): FlagSummary {
  const { multivariate, aggregation_group_type_index: index } = flag.filters as {
    multivariate?: { variants?: unknown } | null
    aggregation_group_type_index?: unknown
  }
  const variants = multivariate?.variants
  return {
    id: flag.id,
    key: flag.key,
    name: flag.name,
    active: flag.active,
    deleted: flag.deleted,
    archived: flag.archived,
    performed_rollback: flag.performedRollback,
    tags: flag.tags as unknown[],
    created_by: creatorToWire(flag.createdBy),
    created_at: flag.createdAt,
    updated_at: flag.updatedAt,
    can_edit: canEdit,
    version: flag.version,
    coverage: coverageOf(flag.filters),
    variant_count: Array.isArray(variants) ? variants.length : 0,
    group_type_index: typeof index === 'number' ? index : null,
  }
}

export const creatorToWire = ({ id, firstName, email }: User): FlagSummary['created_by'] => ({
  id,
  first_name: firstName,
  email,
})
