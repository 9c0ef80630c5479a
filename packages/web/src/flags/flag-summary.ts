import type { Flag, FlagSummary } from '@halyard/contract'
import { type Coverage, coverageOf } from '@halyard/engine'
import type { Messages } from '../i18n/en.ts'
import { readFilters } from './filters.ts'

interface Wording {
  readonly t: Messages
  readonly percent: (value: number) => string
  /** Group type names by index. */
  readonly groupTypes: Readonly<Record<string, string>>
}

export type StateColor = 'green' | 'gray' | 'red' | 'yellow'

type Outline = Pick<FlagSummary, 'coverage' | 'variant_count' | 'group_type_index'>

/** A flag with its definition, or as a list has it. */
type StatedFlag = Pick<Flag, 'deleted' | 'active' | 'performed_rollback'> & (Outline | Pick<Flag, 'filters'>)

/** The flag's current state in one sentence. */
export function describeState(
  flag: StatedFlag,
  { t, percent, groupTypes }: Wording,
): { text: string; color: StateColor } {
  const words = t.flagState
  if (flag.deleted) return { text: words.deleted, color: 'red' }
  if (!flag.active) {
    return flag.performed_rollback ? { text: words.rolledBack, color: 'red' } : { text: words.off, color: 'gray' }
  }
  const { coverage, variant_count: variants, group_type_index: index } = 'coverage' in flag ? flag : outlineOf(flag)
  const audience = index === null ? words.people : words.groups(groupTypes[index] ?? String(index))
  const suffix = variants > 0 ? ` · ${words.variants(variants)}` : ''
  const color = 'green' as const
  switch (coverage.kind as Coverage['kind']) {
    case 'no_one':
      return { text: words.noOne, color: 'yellow' }
    case 'everyone':
      return { text: words.everyone(audience) + suffix, color }
    case 'rollout':
      return { text: words.rollout(percent(coverage.to), audience) + suffix, color }
    case 'conditions': {
      const text =
        coverage.from === 100
          ? words.conditions(coverage.conditions, audience)
          : words.rolloutInConditions(range(coverage, percent), coverage.conditions, audience)
      return { text: text + suffix, color }
    }
  }
}

function outlineOf(flag: Pick<Flag, 'filters'>): Outline {
  const { variants, groupTypeIndex } = readFilters(flag.filters)
  return {
    coverage: coverageOf(flag.filters),
    variant_count: variants.length,
    group_type_index: groupTypeIndex,
  }
}

/** A flag as lists hold it. A flag does not say when it was changed: a new version was changed just now. */
export function summaryOf(flag: Flag | FlagSummary, old?: FlagSummary): FlagSummary {
  if ('coverage' in flag) return flag
  const { id, first_name, email } = flag.created_by
  return {
    id: flag.id,
    key: flag.key,
    name: flag.name,
    active: flag.active,
    deleted: flag.deleted,
    archived: flag.archived,
    performed_rollback: flag.performed_rollback,
    tags: flag.tags,
    created_by: { id, first_name, email },
    created_at: flag.created_at,
    updated_at: old?.version === flag.version ? old.updated_at : new Date().toISOString(),
    can_edit: flag.can_edit,
    version: flag.version,
    ...outlineOf(flag),
  }
}

const range = ({ from, to }: { from: number; to: number }, percent: (value: number) => string): string =>
  from === to ? percent(from) : `${percent(from).replace(/\s?%/, '')}–${percent(to)}`
