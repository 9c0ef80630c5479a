import type { Flag } from '@halyard/contract'
import type { Messages } from '../i18n/en.ts'
import { type Condition, readFilters } from './filters.ts'

interface Wording {
  readonly t: Messages
  readonly percent: (value: number) => string
  /** Group type names by index. */
  readonly groupTypes: Readonly<Record<string, string>>
}

export type StateColour = 'green' | 'gray' | 'red' | 'yellow'

/** The flag's current state in one sentence. */
export function describeState(flag: Flag, { t, percent, groupTypes }: Wording): { text: string; colour: StateColour } {
  const words = t.flagState
  if (flag.deleted) return { text: words.deleted, colour: 'red' }
  if (!flag.active) {
    return flag.performed_rollback ? { text: words.rolledBack, colour: 'red' } : { text: words.off, colour: 'gray' }
  }
  const { groups, variants, groupTypeIndex } = readFilters(flag.filters)
  const whom =
    groupTypeIndex === null ? words.people : words.groups(groupTypes[groupTypeIndex] ?? String(groupTypeIndex))
  const reach = reachOf(groups)
  const suffix = variants.length > 0 ? ` · ${words.variants(variants.length)}` : ''
  if (reach.kind === 'nobody') return { text: words.nobody, colour: 'yellow' }
  const colour = 'green' as const
  if (reach.kind === 'everyone') return { text: words.everyone(whom) + suffix, colour }
  if (reach.kind === 'share') return { text: words.share(percent(reach.percent), whom) + suffix, colour }
  const text =
    reach.from === 100
      ? words.conditions(reach.count, whom)
      : words.shareInConditions(range(reach, percent), reach.count, whom)
  return { text: text + suffix, colour }
}

const range = ({ from, to }: { from: number; to: number }, percent: (value: number) => string): string =>
  from === to ? percent(from) : `${percent(from).replace(/\s?%/, '')}–${percent(to)}`

type Reach =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'everyone' }
  | { readonly kind: 'share'; readonly percent: number }
  | { readonly kind: 'conditions'; readonly count: number; readonly from: number; readonly to: number }

function reachOf(groups: readonly Condition[]): Reach {
  const open = groups.filter(group => shareOf(group) > 0)
  if (open.length === 0) return { kind: 'nobody' }
  if (open.some(group => group.properties.length === 0 && shareOf(group) === 100)) return { kind: 'everyone' }
  if (open.length === 1 && open[0]?.properties.length === 0) return { kind: 'share', percent: shareOf(open[0]) }
  const shares = open.map(shareOf)
  return { kind: 'conditions', count: open.length, from: Math.min(...shares), to: Math.max(...shares) }
}

const shareOf = (group: Condition): number => group.rollout_percentage ?? 100
