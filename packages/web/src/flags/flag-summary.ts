import type { Flag } from '@halyard/contract'
import type { Messages } from '../i18n/en.ts'
import { type Condition, readFilters } from './filters.ts'

interface Wording {
  readonly t: Messages
  readonly percent: (value: number) => string
  /** Group type names by index. */
  readonly groupTypes: Readonly<Record<string, string>>
}

export type StateColor = 'green' | 'gray' | 'red' | 'yellow'

/** The flag's current state in one sentence. */
export function describeState(flag: Flag, { t, percent, groupTypes }: Wording): { text: string; color: StateColor } {
  const words = t.flagState
  if (flag.deleted) return { text: words.deleted, color: 'red' }
  if (!flag.active) {
    return flag.performed_rollback ? { text: words.rolledBack, color: 'red' } : { text: words.off, color: 'gray' }
  }
  const { groups, variants, groupTypeIndex } = readFilters(flag.filters)
  const audience =
    groupTypeIndex === null ? words.people : words.groups(groupTypes[groupTypeIndex] ?? String(groupTypeIndex))
  const coverage = coverageOf(groups)
  const suffix = variants.length > 0 ? ` · ${words.variants(variants.length)}` : ''
  const color = 'green' as const
  switch (coverage.kind) {
    case 'no-one':
      return { text: words.noOne, color: 'yellow' }
    case 'everyone':
      return { text: words.everyone(audience) + suffix, color }
    case 'rollout':
      return { text: words.rollout(percent(coverage.percent), audience) + suffix, color }
    case 'conditions': {
      const text =
        coverage.from === 100
          ? words.conditions(coverage.count, audience)
          : words.rolloutInConditions(range(coverage, percent), coverage.count, audience)
      return { text: text + suffix, color }
    }
  }
}

const range = ({ from, to }: { from: number; to: number }, percent: (value: number) => string): string =>
  from === to ? percent(from) : `${percent(from).replace(/\s?%/, '')}–${percent(to)}`

type Coverage =
  | { readonly kind: 'no-one' }
  | { readonly kind: 'everyone' }
  | { readonly kind: 'rollout'; readonly percent: number }
  | { readonly kind: 'conditions'; readonly count: number; readonly from: number; readonly to: number }

function coverageOf(groups: readonly Condition[]): Coverage {
  const open = groups.filter(group => rolloutOf(group) > 0)
  if (open.length === 0) return { kind: 'no-one' }
  if (open.some(group => group.properties.length === 0 && rolloutOf(group) === 100)) return { kind: 'everyone' }
  if (open.length === 1 && open[0]?.properties.length === 0) return { kind: 'rollout', percent: rolloutOf(open[0]) }
  const rollouts = open.map(rolloutOf)
  return { kind: 'conditions', count: open.length, from: Math.min(...rollouts), to: Math.max(...rollouts) }
}

const rolloutOf = (group: Condition): number => group.rollout_percentage ?? 100
